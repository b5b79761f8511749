/**
 * Executes a call: authentication, limits, parameters, handler, redaction (docs/architecture.md, The path of a write).
 * Every exit is a declared result (spec 2.1), which the edge encodes for its reader.
 *
 * Turns what a client submitted into typed parameters (spec 4, behaviour 1.3). Each endpoint has a plan: how to decode
 * each name, then one check of all values. The code of both is generated from the declaration, once, with the first
 * request (parameter-code.ts). Nothing is coerced: of a text, integers and booleans are JSON, and strings are raw.
 */
import { createHash } from "node:crypto";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { isFromForeignPage } from "../../../domain/foreign-page.ts";
import { isAdministrator, isGuest } from "../../../domain/permissions.ts";
import { redactor } from "../../../domain/redaction.ts";
import { type Plan, planFor } from "../../../domain/redaction-plan.ts";
import { type Endpoint, pathVariables, type Wire, wireOf } from "../../../schemas/endpoint.ts";
import { isRefusal, type Refusal, refuse } from "../../../schemas/errors.ts";
import { parseJson, type ValueBudget } from "../../../schemas/json.ts";
import { limits } from "../../../schemas/limits.ts";
import { registerQueue } from "../../../schemas/register.ts";
import { getServerSettings } from "../../../schemas/server.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { RequestCounter } from "../../metrics/instruments.ts";
import type { IdempotencyKey } from "../../runtime/queued-command.ts";
import { ok, type Result } from "../../runtime/results.ts";
import type { UnsentBytes } from "../../runtime/unsent-bytes.ts";
import type { Binding, Call, Parameters } from "../calls.ts";
import { isWriteOnly } from "../identity/authentication.ts";
import { recordUse } from "../identity/sessions.ts";
import { countFailedKey, nameOf, type RateLimits } from "../rate-limits.ts";
import { explain, type JsonSchema } from "./explain.ts";
import { type Decoded, generateRead, type PlainType, type ReadValues, type Step } from "./parameter-code.ts";

interface ParsedParams {
  readonly params: Readonly<Record<string, unknown>>;
  /** Names that the operation does not declare, ascending. */
  readonly ignored: readonly string[];
}

interface ParameterReader {
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

/** An operation that can be executed. */
export interface Operation extends Binding {
  /** Its number in the counter of requests. */
  readonly number: number;
  readonly reader: ParameterReader;
  /** The plan of redaction for its answers; null: they show no users. */
  readonly redaction: Plan | null;
}

export interface OperationExecutorOptions {
  readonly bindings: readonly Binding[];
  readonly rates: RateLimits;
  /** A handler threw: logged with its operation and answered with 500 (M6). */
  readonly reportBug: (error: unknown, operationId: string) => void;
  /** Maximum size of a file that is streamed to disk. */
  readonly fileBytesMax: number;
  readonly unsent: UnsentBytes;
  readonly clock: { now(): number };
}

export interface OperationExecutor {
  readonly operations: readonly Operation[];
  /** Answers by operation; the last number has those of paths and methods that do not exist. The edges count. */
  readonly requests: RequestCounter;
  /** @param variables the decoded values of the path's variables, in its order */
  execute(operation: Operation, variables: readonly string[], call: Call): Result | Promise<Result>;
}

export function createOperationExecutor(options: OperationExecutorOptions): OperationExecutor {
  const { bindings, unsent, fileBytesMax } = options;
  return {
    operations: bindings.map((binding, number) => ({
      ...binding,
      number,
      reader: parameterReader(binding.endpoint),
      redaction: planFor(binding.endpoint.okSchema),
    })),
    requests: new RequestCounter([...bindings.map(({ endpoint }) => endpoint.operationId), "none"]),
    execute(operation, variables, call) {
      const refusal =
        admit(operation, call, options) ??
        (mayBeLarge(operation) && !hasRoomFor(call, unsent) ? refuse.overloaded() : null) ??
        readCall(operation, call, { variables, fileBytesMax });
      return refusal ?? run(operation, call, options);
    },
  };
}

/** A call whose later fields are being filled in. */
type OpenCall = { -readonly [K in keyof Call]: Call[K] };

/** Codes for invalid credentials. */
const rejections: ReadonlySet<string> = new Set(["INVALID_API_KEY", "USER_DEACTIVATED", "REALM_DEACTIVATED"]);

/**
 * Checks authentication, limits and role, in the order in which rejections are reported. Credentials that were sent
 * must be valid.
 */
function admit(operation: Operation, call: OpenCall, options: OperationExecutorOptions): Refusal | null {
  const { unauthorized, caller } = call;
  const { authentication } = operation.endpoint;
  const mustBeGood = authentication === "user" || (authentication === "optional" && call.hasCredentials);
  if (mustBeGood && unauthorized !== null) {
    const refusal = countFailedKey<never>(options.rates, unauthorized, call.address());
    call.isRejected = rejections.has(refusal.code);
    return refusal;
  }
  if (operation.endpoint.setsCookies === true && isFromForeignPage(call.page)) return refuse.crossSite();
  // The server settings remain available, so that a client can show which server it reached.
  if (
    call.realm.view.realm.deactivatedAt !== null &&
    operation.endpoint.operationId !== getServerSettings.operationId
  ) {
    return refuse.realmDeactivated();
  }
  if (authentication !== "none" && operation.endpoint.allowsIncomingWebhooks !== true && isWriteOnly(caller)) {
    return refuse.notForIncomingWebhooks();
  }
  const kind = caller === null ? "anonymous" : "api";
  if (!options.rates.isLimited(kind)) return checkRole(operation, caller);
  const who = caller === null ? call.address() : nameOf(call.realm.epoch, caller);
  const state = options.rates.take(kind, who);
  if (state === null) return checkRole(operation, caller);
  call.rate = { limit: state.limit, remaining: state.remaining, resetAtMs: options.clock.now() + state.resetS * 1000 };
  return state.retryAfterS > 0 ? refuse.rateLimitHit(state.retryAfterS) : checkRole(operation, caller);
}

/** Answers that may have many megabytes: reads, and the state of a new queue. */
function mayBeLarge({ endpoint }: Operation): boolean {
  return endpoint.effectiveness === "read" || endpoint.operationId === registerQueue.operationId;
}

/** A client that leaves its answers unread is rejected before another one is built. */
function hasRoomFor({ realm, caller, address }: Call, unsent: UnsentBytes): boolean {
  if (unsent.sum === 0) return true;
  return unsent.hasRoomFor(caller === null ? address() : nameOf(realm.epoch, caller));
}

/** Checked before the parameters: a caller without permission learns that first (behaviour 2). */
function checkRole(operation: Operation, caller: UserRecord | null): Refusal | null {
  const { role } = operation.endpoint;
  if (role === undefined || caller === null) return null;
  if (role === "administrator") return isAdministrator(caller) ? null : refuse.administratorRequired();
  if (role !== "human" && isGuest(caller)) return refuse.guestsNotAllowed();
  return role === "member" || caller.botType === null ? null : refuse.botsNotAllowed();
}

/** Reads the parameters, the files and the Idempotency-Key of an admitted call into it. */
function readCall(
  operation: Operation,
  call: OpenCall,
  { variables, fileBytesMax }: { readonly variables: readonly string[]; readonly fileBytesMax: number },
): Refusal | null {
  const { upload } = operation.endpoint;
  const submitted = call.readParams(upload !== undefined);
  if (isRefusal(submitted)) return submitted;
  const bytesMax = upload?.bytesMax ?? fileBytesMax;
  if (submitted.files.some(({ bytes }) => bytes.length > bytesMax)) return refuse.fileTooLarge(bytesMax);
  const parsed = operation.reader.read(submitted.values, variables);
  if (isRefusal(parsed)) return parsed;
  call.files = submitted.files;
  if (submitted.stagedFiles !== undefined) call.stagedFiles = submitted.stagedFiles;
  call.params = parsed.params;
  call.ignored = parsed.ignored;
  const key = idempotencyKeyOf(operation, call, parsed.params);
  if (isRefusal(key)) return key;
  call.idempotencyKey = key;
  return null;
}

/** D25: only for operations with a durable effect and an authenticated caller. */
function idempotencyKeyOf(
  operation: Operation,
  call: Call,
  params: ParsedParams["params"],
): IdempotencyKey | Refusal | null {
  const { sentIdempotencyKey: key, caller, files, stagedFiles } = call;
  if (key === null || operation.endpoint.effectiveness !== "durable" || caller === null) return null;
  if (key === "" || key.length > limits.idempotency_key_bytes_max) {
    return refuse.badRequest(`Idempotency-Key must have 1 to ${limits.idempotency_key_bytes_max} characters`);
  }
  const contents = files.map(({ bytes }) => createHash("sha256").update(bytes).digest("base64url"));
  // The file's URL contains its name.
  const staged = stagedFiles.map(({ filename, sha256 }) => [filename, sha256]);
  const known = withoutSecrets(operation, params);
  const request = JSON.stringify([operation.endpoint.operationId, known, ...contents, ...staged]);
  return {
    userId: caller.id,
    keyHash: createHash("sha256").update(key).digest("base64url"),
    paramsHash: createHash("sha256").update(request).digest("base64url"),
  };
}

/** A password must not be covered by a fast hash, not even together with other data (S2). */
function withoutSecrets(operation: Operation, params: ParsedParams["params"]): Record<string, unknown> {
  const isSecret = (name: string) =>
    (operation.endpoint.params[name] as { secret?: boolean } | undefined)?.secret === true;
  return Object.fromEntries(Object.entries(params).filter(([name]) => !isSecret(name)));
}

function run(operation: Operation, call: Call, options: OperationExecutorOptions): Result | Promise<Result> {
  const { idempotencyKey, realm } = call;
  if (call.isSession) recordUse(call);
  // Must precede checks of state that may have changed since: a channel's name, the sender's permissions (D25).
  const kept = idempotencyKey === null ? null : realm.dispatcher.inFlightRequests.kept(idempotencyKey, realm.view.now);
  if (kept !== null) return answer(operation, call, kept);
  const fail = (error: unknown) => {
    options.reportBug(error, operation.endpoint.operationId);
    return refuse.internalError();
  };
  try {
    const result = operation.handler(call);
    if (!(result instanceof Promise)) return answer(operation, call, result);
    const isRead = operation.endpoint.effectiveness === "read";
    return result.then((later) => {
      try {
        return answer(operation, call, isRead ? stillDue(call, later) : later);
      } catch (error) {
        return fail(error);
      }
    }, fail);
  } catch (error) {
    return fail(error);
  }
}

function answer(operation: Operation, call: Call, result: Result): Result {
  return redacted(operation, call, operation.projectAnswer === null ? result : operation.projectAnswer(call, result));
}

/**
 * A long read fails when the account or the key is no longer valid, like a held poll (S1). A rejection reveals nothing.
 */
function stillDue({ realm: { view }, caller, keyHash, isSession }: Call, result: Result): Result {
  if (result.kind === "refused" || caller === null || keyHash === null) return result;
  if (view.users.get(caller.id)?.isActive !== true) return refuse.userDeactivated();
  if (isSession) return view.session(keyHash) === undefined ? refuse.notLoggedIn() : result;
  return view.apiKey(keyHash) === undefined ? refuse.invalidApiKey() : result;
}

/**
 * Redacts users that the caller may not see (S1). Answers that are already encoded contain no users or were redacted
 * before.
 */
function redacted({ redaction }: Operation, { realm, caller }: Call, result: Result): Result {
  if (redaction === null || result.kind !== "ok" || caller === null) return result;
  // The current record: the turn that answered may have changed the caller's role to guest.
  const hidden = redactor(realm.view, realm.view.users.get(caller.id) ?? caller);
  return hidden === null ? result : ok(hidden.follow(result.answer, redaction));
}
