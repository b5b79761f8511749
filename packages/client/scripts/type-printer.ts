/**
 * Prints JSON Schemas as TypeScript types. A schema that appears in several places, or that the API has a word for, is
 * printed once under its name.
 */

/** The part of JSON Schema that TypeBox writes for this project's schemas. */
export interface JsonSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly default?: unknown;
}

const scalars: Readonly<Record<string, string>> = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  null: "null",
};

export class TypePrinter {
  /** Names by the text of the type that they stand for. */
  readonly #names = new Map<string, string>();
  readonly #texts = new Map<string, string>();

  /** Names a schema: from now on it is printed by its name. The first of two names for one type wins. */
  name(name: string, schema: JsonSchema): void {
    this.nameText(name, this.#unnamed(schema));
  }

  /** The same for a printed type. */
  nameText(name: string, text: string): void {
    if (this.#names.has(text)) return;
    if (this.#texts.has(name)) throw new Error(`two types are named ${name}`);
    this.#names.set(text, name);
    this.#texts.set(name, text);
  }

  /** The named types, in the order in which they were named. */
  get types(): ReadonlyMap<string, string> {
    return this.#texts;
  }

  print(schema: JsonSchema): string {
    return this.named(this.#unnamed(schema));
  }

  /** A printed type's name, or the type itself if it has none. */
  named(text: string): string {
    return this.#names.get(text) ?? text;
  }

  #unnamed(schema: JsonSchema): string {
    if ("const" in schema) return JSON.stringify(schema.const);
    if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)));
    if (schema.anyOf !== undefined) return union(schema.anyOf.map((one) => this.print(one)));
    if (schema.type === "array") return `readonly ${bracketed(this.print(schema.items ?? {}))}[]`;
    if (schema.type === "object") return this.#object(schema);
    const scalar = scalars[schema.type ?? ""];
    if (scalar === undefined) throw new Error(`no type for ${JSON.stringify(schema)}`);
    return scalar;
  }

  #object({ properties = {}, required = [], patternProperties }: JsonSchema): string {
    if (patternProperties !== undefined) {
      const values = Object.values(patternProperties).map((value) => this.print(value));
      return `Readonly<Record<string, ${union(values)}>>`;
    }
    const fields = Object.entries(properties).map(([name, schema]) =>
      this.field(name, schema, required.includes(name)),
    );
    return objectOf(fields);
  }

  field(name: string, schema: JsonSchema, isRequired: boolean): string {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    return `readonly ${key}${isRequired ? "" : "?"}: ${this.print(schema)};`;
  }
}

/** An object with these printed fields. */
export function objectOf(fields: readonly string[]): string {
  return fields.length === 0 ? "Readonly<Record<never, never>>" : `{ ${fields.join(" ")} }`;
}

function union(members: readonly string[]): string {
  return [...new Set(members)].join(" | ");
}

/** As the item of an array. */
function bracketed(type: string): string {
  return /^\w+$/.test(type) ? type : `(${type})`;
}
