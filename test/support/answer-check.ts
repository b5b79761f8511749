/**
 * Compares every answer that a test provokes with what the generated OpenAPI document says of its operation: the status,
 * the headers, and the body, strictly. A field that is missing, has another type or is not declared is a fault with its
 * path. Events are compared with the AsyncAPI document.
 */
import { endpoints } from "../../schemas/index.ts";
import { openApiDocument } from "../../src/api-documents/openapi.ts";
import { Router } from "../../src/edge/http/router.ts";
import { type Check, DocumentCheck, type JsonSchema } from "./document-check.ts";
import { faultsOf } from "./wire-events.ts";

export interface ReceivedAnswer {
  readonly status: number;
  /** The parsed body; null: none. */
  readonly body: unknown;
  header(name: string): string | null;
}

interface Operation {
  readonly operationId: string;
  readonly "x-also"?: readonly string[];
  readonly responses: Readonly<Record<string, JsonSchema>>;
}

const { paths, components } = openApiDocument();
const check = new DocumentCheck("openapi", components);

const operations = new Map<string, Operation>();
for (const item of Object.values(paths)) {
  for (const operation of Object.values(item) as Operation[]) {
    for (const id of [operation.operationId, ...(operation["x-also"] ?? [])]) operations.set(id, operation);
  }
}

/** The server's own: which operation a path belongs to is not what is checked here. */
const router = new Router(endpoints.map((endpoint) => ({ endpoint })));

function operationOf(method: string, path: string): Operation | undefined {
  const [bare = ""] = path.split("?");
  const match = router.match(method, bare);
  return match.kind === "found" ? operations.get(match.target.endpoint.operationId) : undefined;
}

interface Response {
  readonly headers: Readonly<Record<string, { readonly required?: boolean }>>;
  /** null: the response has no body. */
  readonly check: Check | null;
}

const responses = new Map<string, Response | undefined>();

function responseOf({ operationId, responses: declared }: Operation, status: number): Response | undefined {
  const key = `${operationId} ${status}`;
  if (!responses.has(key)) responses.set(key, readResponse(operationId, declared[String(status)]));
  return responses.get(key);
}

function readResponse(operationId: string, declared: JsonSchema | undefined): Response | undefined {
  if (declared === undefined) return undefined;
  const { headers = {}, content } = resolved(declared) as {
    readonly headers?: Readonly<Record<string, JsonSchema>>;
    readonly content?: { readonly "application/json": { readonly schema: JsonSchema } };
  };
  const schema = content?.["application/json"].schema;
  return {
    headers: Object.fromEntries(Object.entries(headers).map(([name, header]) => [name, resolved(header)])),
    check: schema === undefined ? null : check.compile(operationId === "get-events" ? withoutEvents(schema) : schema),
  };
}

/** Each event is compared with the forms of its own kind: errors of the union of all kinds say nothing. */
function withoutEvents(schema: JsonSchema): JsonSchema {
  const properties = { ...(schema["properties"] as object), events: { type: "array" } };
  return { ...schema, properties };
}

/** A part of the document, or the component that it refers to. */
function resolved(part: JsonSchema): JsonSchema {
  const { $ref: reference } = part;
  if (typeof reference !== "string") return part;
  const [, , kind = "", name = ""] = reference.split("/");
  const named = (components as Readonly<Record<string, Readonly<Record<string, unknown>>>>)[kind]?.[name];
  return named as JsonSchema;
}

/** Headers that a response must declare if it has them. */
const declaredHeaders = ["ETag", "Location", "Retry-After", "Allow"];

function headerFaults({ headers }: Response, answer: ReceivedAnswer): string[] {
  const missing = Object.entries(headers).filter(([name, { required }]) => required === true && !answer.header(name));
  const undeclared = declaredHeaders.filter((name) => answer.header(name) !== null && !Object.hasOwn(headers, name));
  return [...missing.map(([name]) => `no header ${name}`), ...undeclared.map((name) => `an undeclared header ${name}`)];
}

/** @returns what the document does not say of the answer; null: nothing, or the request matches no operation */
export function answerFault(method: string, path: string, answer: ReceivedAnswer): string | null {
  const operation = operationOf(method, path);
  if (operation === undefined || method === "OPTIONS") return null;
  const { status, body } = answer;
  const response = responseOf(operation, status);
  if (response === undefined) return `${operation.operationId} does not declare status ${status}: ${shown(body)}`;
  const faults = headerFaults(response, answer);
  if (method !== "HEAD") faults.push(...bodyFaults(operation, response, body));
  return faults.length === 0 ? null : `${operation.operationId} ${status}: ${faults.join("; ")}: ${shown(body)}`;
}

/** The same for a success without status and headers, as a socket's reply to a `call` shows it. */
export function successFault(method: string, path: string, body: unknown): string | null {
  const operation = operationOf(method, path);
  if (operation === undefined) return null;
  const [status] = Object.keys(operation.responses);
  const response = responseOf(operation, Number(status));
  const faults = response === undefined ? ["no success"] : bodyFaults(operation, response, body);
  return faults.length === 0 ? null : `${operation.operationId}: ${faults.join("; ")}`;
}

function bodyFaults({ operationId }: Operation, response: Response, body: unknown): string[] {
  if (response.check === null) return body === null ? [] : ["a body"];
  const fault = response.check(body);
  const { events } = (body ?? {}) as { readonly events?: readonly unknown[] };
  const inEvents = operationId === "get-events" && events !== undefined ? faultsOf(events) : [];
  return [...(fault === null ? [] : [fault]), ...inEvents];
}

function shown(body: unknown): string {
  return JSON.stringify(body)?.slice(0, 500) ?? "";
}

/** @throws Error when an answer differs from the document */
export function checkAnswer(method: string, path: string, answer: ReceivedAnswer): void {
  const fault = answerFault(method, path, answer);
  if (fault !== null) throw new Error(`the API document does not say this: ${fault}`);
}
