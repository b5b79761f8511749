/**
 * Explains in the words of the public API (behaviour 1.3) why a value violates a schema. It runs only after a compiled
 * check has failed, so it may be slow. It supports the JSON Schema keywords that our declarations use.
 */
import { ownProperty } from "../../../domain/own-property.ts";
import { codePoints } from "../../../domain/text.ts";

export interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  /** Schemas of a record's values, by a pattern of their names. */
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** The public API's message for any invalid value of the right type; `{value}` is replaced by the value. */
  readonly invalid?: string;
}

const typeNames: Readonly<Record<string, string>> = {
  boolean: "a boolean",
  integer: "an integer",
  number: "a float",
  string: "a string",
  array: "a list",
  object: "a dict",
  null: "null",
};

/** @returns the message, or null if the value is valid */
export function explain(schema: JsonSchema, value: unknown, path: string): string | null {
  if (schema.anyOf !== undefined) {
    const message = explainUnion(schema.anyOf, value, path);
    return message === null ? null : explanation(schema, value, message);
  }
  if (schema.type !== undefined && !hasType(schema.type, value)) return `${path} is not ${typeNames[schema.type]}`;
  const message = explainValue(schema, value, path);
  return message === null ? null : explanation(schema, value, message);
}

function explanation(schema: JsonSchema, value: unknown, message: string): string {
  return schema.invalid?.replaceAll("{value}", () => String(value)) ?? message;
}

/** Precondition: the value has the right type. */
function explainValue(schema: JsonSchema, value: unknown, path: string): string | null {
  if (schema.enum !== undefined) return schema.enum.includes(value) ? null : `Invalid ${path}`;
  if (schema.const !== undefined) return schema.const === value ? null : `Invalid ${path}`;
  if (typeof value === "number") return explainNumber(schema, value, path);
  if (typeof value === "string") return explainString(schema, value, path);
  if (Array.isArray(value)) return explainList(schema, value, path);
  if (typeof value === "object" && value !== null) return explainDict(schema, value as Record<string, unknown>, path);
  return null;
}

function hasType(type: string, value: unknown): boolean {
  switch (type) {
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "null":
      return value === null;
    default:
      return typeof value === type;
  }
}

/** The branch of the value's own type explains it, else the first branch other than null. */
function explainUnion(branches: readonly JsonSchema[], value: unknown, path: string): string | null {
  const explanations = branches.map((branch) => explain(branch, value, path));
  if (explanations.includes(null)) return null;
  const ofSameType = branches.findIndex((branch) => branch.type !== undefined && hasType(branch.type, value));
  if (ofSameType >= 0) return explanations[ofSameType] ?? null;
  const first = branches.findIndex((branch) => branch.type !== "null");
  return explanations[Math.max(0, first)] ?? null;
}

function explainNumber(schema: JsonSchema, value: number, path: string): string | null {
  if (schema.minimum !== undefined && value < schema.minimum) return `${path} is too small`;
  if (schema.maximum !== undefined && value > schema.maximum) return `${path} is too large`;
  return null;
}

function explainString(schema: JsonSchema, value: string, path: string): string | null {
  const length = codePoints(value);
  if (schema.minLength !== undefined && length < schema.minLength) {
    return schema.minLength === 1 ? `${path} cannot be blank` : `${path} is too short.`;
  }
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    return `${path} is too long (limit: ${schema.maxLength} characters)`;
  }
  return null;
}

function explainList(schema: JsonSchema, value: readonly unknown[], path: string): string | null {
  if (schema.minItems !== undefined && value.length < schema.minItems) return `${path} is too short.`;
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    return `${path} is too long (limit: ${schema.maxItems} items)`;
  }
  if (schema.items === undefined) return null;
  for (let index = 0; index < value.length; index++) {
    const message = explain(schema.items, value[index], `${path}[${index}]`);
    if (message !== null) return message;
  }
  return null;
}

function recordValue(schema: JsonSchema, name: string): JsonSchema | undefined {
  const patterns = Object.entries(schema.patternProperties ?? {});
  return patterns.find(([pattern]) => new RegExp(pattern).test(name))?.[1];
}

function explainDict(schema: JsonSchema, value: Readonly<Record<string, unknown>>, path: string): string | null {
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) return `${path}["${name}"] field is missing`;
  }
  for (const [name, inner] of Object.entries(value)) {
    const property = ownProperty(schema.properties ?? {}, name) ?? recordValue(schema, name);
    if (property === undefined) {
      if (schema.additionalProperties === false) return `Argument "${name}" at ${path} is unexpected`;
      continue;
    }
    const message = explain(property, inner, `${path}["${name}"]`);
    if (message !== null) return message;
  }
  return null;
}
