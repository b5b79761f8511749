/**
 * Checks events without additional properties: as clients get them against the AsyncAPI document, as the log stores them
 * against the catalogue (schemas/events.ts). `ops` lists the catalogue: what tests provoke must be all of it.
 */
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { storedSchemas, wireSchemas } from "../../schemas/events.ts";
import { asyncApiDocument } from "../../src/api-documents/asyncapi.ts";
import type { RealmHost } from "../../src/runtime/realm-host.ts";
import { type Check, DocumentCheck, type JsonSchema } from "./document-check.ts";
import { opOf } from "./logged-events.ts";

// biome-ignore lint/suspicious/noExplicitAny: any event, which is checked here
type Event = any;

/** By type: its ops; "" means that the type has no op. */
export const ops: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(wireSchemas).map(([type, schemas]) => [type, Object.keys(schemas)]),
);

/** The type and op of an event in one word or two. */
export function kindOf({ type, op }: { readonly type: string; readonly op?: string }): string {
  return op === undefined ? type : `${type} ${op}`;
}

/** All kinds of these types, sorted. */
export function kindsOf(types: readonly string[]): string[] {
  return types.flatMap((type) => (ops[type] ?? []).map((op) => `${type} ${op}`.trim())).sort();
}

/** The same schema that allows no other properties, at any depth. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (typeof schema !== "object" || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, strict(value)]));
  return "properties" in inner ? { ...inner, additionalProperties: false } : inner;
}

function checkOf(schema: unknown): Check {
  // The copy is a schema, too.
  const compiled = Compile(strict(schema) as TSchema);
  return (value) => {
    if (compiled.Check(value)) return null;
    return compiled
      .Errors(value)
      .map(({ instancePath, message }) => `${instancePath} ${message}`)
      .join("; ");
  };
}

type CheckEvent = (type: string, op: string | undefined, value: unknown) => string | null;

/** @param formsOf the checks of the forms of a kind; compiled when the kind is first seen */
function checkEvents(formsOf: (type: string, op: string) => readonly Check[]): CheckEvent {
  const known = new Map<string, readonly Check[]>();
  return (type, op, value) => {
    const key = `${type} ${op ?? ""}`;
    const checks = known.get(key) ?? formsOf(type, op ?? "");
    known.set(key, checks);
    const faults = checks.map((check) => check(value));
    return faults.includes(null) ? null : `${key}: ${faults.join(" | ")}: ${JSON.stringify(value)}`;
  };
}

const socketDocument = asyncApiDocument();
export const socketCheck = new DocumentCheck("asyncapi", socketDocument.components);

/** The components of the document. */
export const socketSchemas: Readonly<Record<string, JsonSchema>> = socketDocument.components.schemas;

/** The forms of events in the document, by type and op. */
const documented = new Map<string, JsonSchema[]>();
for (const form of (socketSchemas["Event"]?.["anyOf"] ?? []) as readonly { readonly $ref: string }[]) {
  const schema = socketSchemas[form.$ref.split("/").at(-1) ?? ""] as { readonly properties?: Kind } | undefined;
  const { type, op } = schema?.properties ?? {};
  const key = `${type?.const} ${op?.const ?? ""}`;
  documented.set(key, [...(documented.get(key) ?? []), form]);
}

interface Kind {
  readonly type?: { readonly const?: string };
  readonly op?: { readonly const?: string };
}

const checkWire = checkEvents((type, op) =>
  (documented.get(`${type} ${op}`) ?? []).map((form) => socketCheck.compile(form)),
);
const checkStored = checkEvents((type, op) => storedSchemas[type]?.[op]?.map(checkOf) ?? []);

/** What is wrong with events; none: they are as the document says. */
export function faultsOf(events: readonly Event[]): string[] {
  return events
    .filter(({ type }) => type !== "heartbeat")
    .flatMap((event) => checkWire(event.type, event.op, event) ?? []);
}

/** The newest events that are checked; a test with more repeats itself. */
const checkedMax = 5000;

/** @throws Error when the log of an open realm has an event that is not as the catalogue says */
export function checkLogs(host: RealmHost): void {
  for (const { lmdb } of host.openRealms) {
    for (const { row } of lmdb.rows("events", { reverse: true, limit: checkedMax })) {
      const fault = checkStored(row.type, opOf(row), row.body);
      if (fault !== null) throw new Error(`the log stores what schemas/events.ts does not declare: ${fault}`);
    }
  }
}
