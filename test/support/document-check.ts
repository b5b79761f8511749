/**
 * Schemas of the API documents, compiled by a validator that is not ours (ajv). Strict: no other properties at any
 * depth, although clients should accept them.
 */
import { Ajv, type ValidateFunction } from "ajv";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** @returns what is wrong, or null */
export type Check = (value: unknown) => string | null;

/** Faults that are shown: a value may have thousands. */
const faultsMax = 3;

/** The same schema that allows no other properties. Its references name components of the document `id`. */
function closed(schema: unknown, id: string): unknown {
  if (Array.isArray(schema)) return schema.map((inner) => closed(inner, id));
  if (typeof schema !== "object" || schema === null) return schema;
  const { $ref: reference } = schema as JsonSchema;
  if (typeof reference === "string") return { $ref: `${id}${reference}` };
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value, id)]));
  const isObject = (schema as JsonSchema)["type"] === "object" && "properties" in schema;
  return isObject && !("additionalProperties" in copy) ? { ...copy, additionalProperties: false } : copy;
}

export class DocumentCheck {
  readonly #id: string;
  // That the documents are valid is another test's: checking it here would take longer than everything else.
  readonly #ajv = new Ajv({
    strict: false,
    meta: false,
    validateSchema: false,
    validateFormats: false,
    inlineRefs: false,
    code: { optimize: false },
  });

  /** @param id any name without `#` */
  constructor(id: string, components: { readonly schemas: Readonly<Record<string, JsonSchema>> }) {
    this.#id = id;
    // The components are not traversed until an operation refers to them.
    this.#ajv.addSchema({ $id: id, components: { schemas: closed(components.schemas, id) } }, id, false, false);
  }

  /**
   * Compiles a part of the document when a value is first compared with it. Each property of an object is a part of its
   * own: an answer of /register has some of a hundred sections.
   */
  compile(schema: JsonSchema): Check {
    const { type, properties } = schema;
    return type === "object" && properties !== undefined ? this.#object(schema) : this.#whole(schema, "");
  }

  #object({ properties, required = [] }: JsonSchema): Check {
    const checks = new Map(
      Object.entries(properties as Readonly<Record<string, JsonSchema>>).map(([name, schema]) => [
        name,
        this.#whole(schema, `/${name}`),
      ]),
    );
    return (value) => {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return "must be object";
      const missing = (required as readonly string[]).filter((name) => !Object.hasOwn(value, name));
      const faults = [
        ...missing.map((name) => `must have required property '${name}'`),
        ...Object.entries(value).flatMap(([name, inner]) => {
          const check = checks.get(name);
          return check === undefined ? [`must NOT have additional properties: ${name}`] : (check(inner) ?? []);
        }),
      ];
      return faults.length === 0 ? null : faults.slice(0, faultsMax).join("; ");
    };
  }

  /** @param path of the value, for faults */
  #whole(schema: JsonSchema, path: string): Check {
    let validate: ValidateFunction | null = null;
    return (value) => {
      validate ??= this.#ajv.compile(closed(schema, this.#id) as object);
      if (validate(value)) return null;
      const errors = (validate.errors ?? []).slice(0, faultsMax);
      return errors
        .map(({ instancePath, message, params }) => `${path}${instancePath} ${message} ${JSON.stringify(params)}`)
        .join("; ");
    };
  }
}
