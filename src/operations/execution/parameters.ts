/**
 * Turns what a client submitted into typed parameters (spec 4, behaviour 1.3). Each endpoint has a plan: how to decode
 * each name, then one check of all values. The code of both is generated from the declaration, once, with the first
 * request (parameter-code.ts). Nothing is coerced: of a text, integers and booleans are JSON, and strings are raw.
 */
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { type Endpoint, pathVariables, type Wire, wireOf } from "../../../schemas/endpoint.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { parseJson, type ValueBudget } from "../../../schemas/json.ts";
import { limits } from "../../../schemas/limits.ts";
import type { Parameters } from "../calls.ts";
import { explain, type JsonSchema } from "./explain.ts";
import { type Decoded, generateRead, type PlainType, type ReadValues, type Step } from "./parameter-code.ts";

export interface ParsedParams {
  readonly params: Readonly<Record<string, unknown>>;
  /** Names that the operation does not declare, ascending. */
  readonly ignored: readonly string[];
}

export interface ParameterReader {
  /** @param path decoded path variables, in the order of the path */
  read(submitted: Parameters, path: readonly string[]): ParsedParams | Refusal;
}

/** A step with what explains its errors. */
interface ExplainedStep extends Step {
  readonly schema: JsonSchema;
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
  const variables = pathVariables(endpoint.path).map(({ name }) => name);
  const steps = Object.entries(endpoint.params).map(([name, schema]) => stepOf(endpoint, variables, name, schema));
  const known = new Set(steps.flatMap((step) => (step.alias === null ? [step.name] : [step.name, step.alias])));
  let validator: ReturnType<typeof Compile> | null = null;
  let readValues: ReadValues | null = null;
  return {
    read(submitted, path) {
      readValues ??= generateRead(steps);
      const values = readValues(submitted, path);
      if ("refusal" in values) return values.refusal;
      const { params, taken } = values;
      validator ??= Compile(endpoint.paramsSchema);
      if (!validator.Check(params)) return firstViolation(steps, params);
      return { params, ignored: taken === submitted.size ? none : ignoredNames(submitted, known) };
    },
  };
}

function stepOf(endpoint: Endpoint, variables: readonly string[], name: string, schema: TSchema): ExplainedStep {
  const required = (endpoint.paramsSchema as { required?: readonly string[] }).required ?? [];
  const declared = schema as { default?: unknown };
  const alias = Object.entries(endpoint.aliases ?? {}).find(([, target]) => target === name)?.[0] ?? null;
  const hasDefault = declared.default !== undefined;
  const wire = wireOf(schema);
  return {
    name,
    alias,
    pathIndex: variables.indexOf(name),
    isRequired: required.includes(name) && !hasDefault,
    hasDefault,
    fallback: declared.default,
    schema: schema as JsonSchema,
    plainType: plainTypeOf(wire, schema as JsonSchema),
    decode: decoders[wire](name),
  };
}

/** The most common types need no parser. */
function plainTypeOf(wire: Wire, { type }: JsonSchema): PlainType {
  if (wire === "text") return "text";
  return wire === "json" && (type === "integer" || type === "boolean") ? type : null;
}

/** A failed JSON.parse costs ten times as much as a check of the first character; names rarely start like JSON. */
const looksLikeJson = /^\s*(?:[[{"\d-]|(?:true|false|null)\s*$)/;

/** How text becomes a value, by the parameter's encoding. */
const decoders = {
  text:
    () =>
    (text: string): Decoded => ({ value: text }),
  json: (name: string) => (text: string, budget: ValueBudget) => parsedOrRefused(name, text, budget),
  "json-or-text":
    () =>
    (text: string, budget: ValueBudget): Decoded => {
      const parsed = looksLikeJson.test(text) ? parseJson(text, budget) : undefined;
      if (budget.left < 0) return tooManyValues;
      return { value: parsed === undefined ? text : parsed };
    },
} as const;

const tooManyValues = {
  refusal: refuse.badRequest(`The parameters have too many values (limit: ${limits.json_values_max})`),
} as const;

function parsedOrRefused(name: string, text: string, budget: ValueBudget): Decoded {
  const parsed = parseJson(text, budget);
  if (budget.left < 0) return tooManyValues;
  return parsed === undefined ? { refusal: refuse.badRequest(`${name} is not valid JSON`) } : { value: parsed };
}

/**
 * The first parameter, in order of declaration, that violates its schema; only one error is reported (behaviour 1.3).
 */
function firstViolation(steps: readonly ExplainedStep[], params: Readonly<Record<string, unknown>>): Refusal {
  for (const step of steps) {
    const value = params[step.name];
    if (value === undefined) continue;
    const message = explain(step.schema, value, step.name);
    if (message !== null) return refuse.badRequest(message);
  }
  return refuse.badRequest("Invalid parameters");
}

const none: readonly string[] = [];

function ignoredNames(submitted: Parameters, known: ReadonlySet<string>): readonly string[] {
  const ignored: string[] = [];
  for (const name of submitted.keys()) if (!known.has(name)) ignored.push(name);
  return ignored.sort();
}
