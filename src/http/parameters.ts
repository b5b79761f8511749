/**
 * Turns form strings into typed parameters (spec 4, behaviour 1.3). Each endpoint is compiled at boot into a plan: how
 * to decode each name, then one check of all values, whose code is generated with the first request. Nothing is coerced: integers and booleans are JSON, strings are
 * raw.
 */
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { type Endpoint, wireOf } from "../../schemas/endpoint.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { parseJson } from "../../schemas/json.ts";
import { explain, type JsonSchema } from "./explain.ts";

export interface ParsedParams {
  readonly params: Readonly<Record<string, unknown>>;
  /** Names that the operation does not declare, ascending. */
  readonly ignored: readonly string[];
}

export interface ParameterReader {
  /** @param path decoded path variables by name */
  read(form: ReadonlyMap<string, string>, path: Readonly<Record<string, string>>): ParsedParams | Refusal;
}

type Decoded = { readonly value: unknown } | { readonly refusal: Refusal };

interface Step {
  readonly name: string;
  readonly alias: string | null;
  /** The parameter is a path variable. */
  readonly isInPath: boolean;
  readonly isRequired: boolean;
  readonly hasDefault: boolean;
  readonly fallback: unknown;
  readonly schema: JsonSchema;
  decode(text: string): Decoded;
}

const readers = new WeakMap<Endpoint, ParameterReader>();

/** Compiled once in a process, however many servers it starts. */
export function parameterReader(endpoint: Endpoint): ParameterReader {
  let reader = readers.get(endpoint);
  if (reader === undefined) {
    reader = compileParameters(endpoint);
    readers.set(endpoint, reader);
  }
  return reader;
}

function compileParameters(endpoint: Endpoint): ParameterReader {
  const steps = Object.entries(endpoint.params).map(([name, schema]) => stepOf(endpoint, name, schema));
  const known = new Set(steps.flatMap((step) => (step.alias === null ? [step.name] : [step.name, step.alias])));
  let validator: ReturnType<typeof Compile> | null = null;
  return {
    read(form, path) {
      const params: Record<string, unknown> = {};
      // How many names of the form were read: if it is all of them, none is ignored.
      let taken = 0;
      for (const step of steps) {
        const read = readStep(step, form, path, params);
        if (typeof read === "object") return read;
        taken += read;
      }
      validator ??= Compile(endpoint.paramsSchema);
      if (!validator.Check(params)) return firstViolation(steps, params);
      return { params, ignored: taken === form.size ? none : ignoredNames(form, known) };
    },
  };
}

function stepOf(endpoint: Endpoint, name: string, schema: TSchema): Step {
  const required = (endpoint.paramsSchema as { required?: readonly string[] }).required ?? [];
  const declared = schema as { default?: unknown };
  const alias = Object.entries(endpoint.aliases ?? {}).find(([, target]) => target === name)?.[0] ?? null;
  const hasDefault = declared.default !== undefined;
  return {
    name,
    alias,
    isInPath: endpoint.path.includes(`{${name}}`) || endpoint.path.includes(`{${name}*}`),
    isRequired: required.includes(name) && !hasDefault,
    hasDefault,
    fallback: declared.default,
    schema: schema as JsonSchema,
    decode: decoders[wireOf(schema)](name, schema as JsonSchema),
  };
}

/** A failed JSON.parse costs ten times as much as a check of the first character; names rarely start like JSON. */
const looksLikeJson = /^\s*(?:[[{"\d-]|(?:true|false|null)\s*$)/;

/** How text becomes a value, by the parameter's encoding. */
const decoders = {
  text:
    () =>
    (text: string): Decoded => ({ value: text }),
  json: (name: string, schema: JsonSchema) => decodeJson(name, schema),
  "json-or-text":
    () =>
    (text: string): Decoded => {
      const parsed = looksLikeJson.test(text) ? parseJson(text) : undefined;
      return { value: parsed === undefined ? text : parsed };
    },
} as const;

function decodeJson(name: string, schema: JsonSchema): (text: string) => Decoded {
  // The two most common types need no JSON parser.
  if (schema.type === "integer") {
    return (text) => (/^-?\d{1,15}$/.test(text) ? { value: Number(text) + 0 } : parsedOrRefused(name, text));
  }
  if (schema.type === "boolean") {
    return (text) =>
      text === "true" ? { value: true } : text === "false" ? { value: false } : parsedOrRefused(name, text);
  }
  return (text) => parsedOrRefused(name, text);
}

function parsedOrRefused(name: string, text: string): Decoded {
  const parsed = parseJson(text);
  return parsed === undefined ? { refusal: refuse.badRequest(`${name} is not valid JSON`) } : { value: parsed };
}

/** @returns the number of names of the form that it read, or a rejection */
function readStep(
  step: Step,
  form: ReadonlyMap<string, string>,
  path: Readonly<Record<string, string>>,
  params: Record<string, unknown>,
): Refusal | 0 | 1 {
  const aliased = step.alias === null ? undefined : form.get(step.alias);
  const named = step.isInPath ? path[step.name] : form.get(step.name);
  if (named !== undefined && aliased !== undefined && step.alias !== null) {
    return refuse.confusing(step.name, step.alias);
  }
  const text = named ?? aliased;
  if (text === undefined) {
    if (step.isRequired) return refuse.missing(step.name);
    if (step.hasDefault) params[step.name] = step.fallback;
    return 0;
  }
  const decoded = step.decode(text);
  if ("refusal" in decoded) return decoded.refusal;
  params[step.name] = decoded.value;
  return step.isInPath && named !== undefined ? 0 : 1;
}

/**
 * The first parameter, in order of declaration, that violates its schema; only one error is reported (behaviour 1.3).
 */
function firstViolation(steps: readonly Step[], params: Readonly<Record<string, unknown>>): Refusal {
  for (const step of steps) {
    const value = params[step.name];
    if (value === undefined) continue;
    const message = explain(step.schema, value, step.name);
    if (message !== null) return refuse.badRequest(message);
  }
  return refuse.badRequest("Invalid parameters");
}

const none: readonly string[] = [];

function ignoredNames(form: ReadonlyMap<string, string>, known: ReadonlySet<string>): readonly string[] {
  const ignored: string[] = [];
  for (const name of form.keys()) if (!known.has(name)) ignored.push(name);
  return ignored.sort();
}
