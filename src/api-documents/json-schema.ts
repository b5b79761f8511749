/**
 * JSON Schema (2020-12) of the declarations, without the keywords that only this server reads. A schema with a title
 * becomes a component of the document and is referred to by its title.
 */

export type JsonSchema = Readonly<Record<string, unknown>>;

/** How a value is encoded, redacted or refused: no matter of its form. */
const ownKeywords: ReadonlySet<string> = new Set(["wire", "invalid", "person", "secret"]);

/** Keywords whose value is an object of schemas by name. */
const namedSchemas: ReadonlySet<string> = new Set(["properties", "patternProperties"]);

/** Any name: how a record of the declarations is written. */
const anyName = "^.*$";

export class SchemaBook {
  readonly #components = new Map<string, JsonSchema>();
  /** The declaration of each component, to notice two under one title. */
  readonly #declared = new Map<string, string>();
  /** Most declarations are shared: each is converted once. */
  readonly #converted = new Map<unknown, JsonSchema>();

  /** Everything that was referred to so far, by name. */
  get components(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Makes a declaration without a title a component, wherever it is referred to. */
  name(declared: unknown, name: string): JsonSchema {
    const reference = this.component(name, () => this.#convert(declared as JsonSchema), declared);
    this.#converted.set(declared, reference);
    return reference;
  }

  /** @param declared a schema of `schemas/` */
  of(declared: unknown): JsonSchema {
    const known = this.#converted.get(declared);
    if (known !== undefined) return known;
    const schema = declared as JsonSchema;
    const { title } = schema;
    const converted =
      typeof title === "string" ? this.component(title, () => this.#convert(schema), schema) : this.#convert(schema);
    this.#converted.set(declared, converted);
    return converted;
  }

  /** Refers to a component, which is built when it is first needed. */
  component(name: string, build: () => JsonSchema, declared: unknown = null): JsonSchema {
    const text = JSON.stringify(declared);
    const known = this.#declared.get(name);
    if (known !== undefined && known !== text) throw new Error(`two schemas have the name ${name}`);
    if (known === undefined) {
      this.#declared.set(name, text);
      this.#components.set(name, build());
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #convert(schema: JsonSchema): JsonSchema {
    const converted: Record<string, unknown> = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (ownKeywords.has(keyword)) continue;
      converted[keyword] = this.#convertKeyword(keyword, value);
    }
    if (schema["secret"] === true) converted["format"] = "password";
    const patterns = converted["patternProperties"] as JsonSchema | undefined;
    if (patterns !== undefined && Object.keys(patterns).join() === anyName) {
      delete converted["patternProperties"];
      converted["additionalProperties"] = patterns[anyName];
    }
    return converted;
  }

  #convertKeyword(keyword: string, value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (keyword === "anyOf") return (value as readonly unknown[]).map((form) => this.of(form));
    if (keyword === "items" || keyword === "additionalProperties") return this.of(value);
    if (!namedSchemas.has(keyword)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, this.of(inner)]));
  }
}

/** An object with these properties; a schema of the document, not a declaration. */
export function objectOf(properties: Readonly<Record<string, JsonSchema>>, required: readonly string[]): JsonSchema {
  return { type: "object", properties, ...(required.length === 0 ? {} : { required }) };
}
