/**
 * Schemas of the API documents, compiled by a validator that is not ours (ajv). Strict: no other properties at any
 * depth, although clients should accept them.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

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
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, inlineRefs: false });

  /** @param id any name without `#` */
  constructor(id: string, components: { readonly schemas: Readonly<Record<string, JsonSchema>> }) {
    this.#id = id;
    // The components are not traversed until an operation refers to them.
    this.#ajv.addSchema({ $id: id, components: { schemas: closed(components.schemas, id) } }, id, false, false);
  }

  /** @param schema a part of the document */
  compile(schema: JsonSchema): Check {
    let validate: ValidateFunction | null = null;
    return (value) => {
      validate ??= this.#ajv.compile(closed(schema, this.#id) as object);
      if (validate(value)) return null;
      const errors = (validate.errors ?? []).slice(0, faultsMax);
      return errors
        .map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)
        .join("; ");
    };
  }
}
