/**
 * Compares every successful answer that a test provokes with what its endpoint declares (`ok`), strictly: a field that
 * is missing, has another type or is not declared throws an error with its path.
 */
import type { TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { type Endpoint, envelopeFields } from "../../schemas/endpoint.ts";
import { endpoints } from "../../schemas/index.ts";
import { faultsOf } from "./wire-events.ts";

interface Checked {
  readonly endpoint: Endpoint;
  readonly path: RegExp;
  validator: Validator | null;
}

/** Literal paths first, as in the router: /users/me is not a user id. */
const checked: readonly Checked[] = [...endpoints]
  .sort((a, b) => variablesIn(a) - variablesIn(b))
  .map((endpoint) => ({ endpoint, path: patternOf(endpoint.path), validator: null }));

function variablesIn({ path }: Endpoint): number {
  return path.split("{").length - 1;
}

/** A variable that names an id takes digits alone, as in the router. */
function patternOf(path: string): RegExp {
  const source = path.replace(/\{([^}]*)\}/g, (_, name: string) => (name.endsWith("*") ? ".+" : "[^/]+"));
  return new RegExp(`^${source}$`);
}

/** @throws Error when a successful answer differs from the declaration of its operation */
export function checkAnswer(method: string, path: string, body: unknown): void {
  if (typeof body !== "object" || body === null || (body as { result?: unknown }).result !== "success") return;
  const [bare = ""] = path.split("?");
  const found = checked.find((one) => one.endpoint.method === method && one.path.test(bare));
  if (found === undefined) return;
  const { operationId, okSchema } = found.endpoint;
  found.validator ??= Compile(strict(okSchema));
  const fields = Object.fromEntries(Object.entries(body).filter(([name]) => !envelopeFields.has(name)));
  if (found.validator.Check(fields)) return;
  throw new Error(`${operationId} answers what it does not declare: ${faultsIn(found.validator, fields).join("; ")}`);
}

/** An event is compared with the forms of its own kind: errors of the union of all kinds say nothing. */
function faultsIn(validator: Validator, fields: Readonly<Record<string, unknown>>): string[] {
  const { events } = fields;
  const inEvents = Array.isArray(events) ? faultsOf(events) : [];
  if (inEvents.length > 0) return inEvents;
  const errors = validator.Errors(fields).slice(0, 3);
  return errors.map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`);
}

/** The schema with no additional properties at any depth. */
function strict(schema: TSchema): TSchema {
  const entries = Object.entries(schema).map(([key, value]) => [key, key === "enum" ? value : strictWithin(value)]);
  const copy = Object.fromEntries(entries) as Record<string, unknown>;
  const { type, properties, patternProperties } = schema as {
    readonly type?: unknown;
    readonly properties?: unknown;
    readonly patternProperties?: unknown;
  };
  const isObject = type === "object" && typeof properties === "object" && patternProperties === undefined;
  if (isObject) copy["additionalProperties"] = false;
  return copy as TSchema;
}

function strictWithin(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strictWithin);
  return typeof value === "object" && value !== null ? strict(value as TSchema) : value;
}
