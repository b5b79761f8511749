/**
 * Executes a call: route, authenticate, limits, parameters, handler, answer (docs/architecture.md, The path of a
 * write). Shared by REST and the socket's `call` frame. Every exit is a declared answer in the envelope (spec 2.1).
 */
import { createHash } from "node:crypto";
import { isFromForeignPage } from "../../../domain/foreign-page.ts";
import { isAdministrator, isGuest } from "../../../domain/permissions.ts";
import { redactor } from "../../../domain/redaction.ts";
import { type Plan, planFor } from "../../../domain/redaction-plan.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import { registerQueue } from "../../../schemas/register.ts";
import { getServerSettings } from "../../../schemas/server.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { RequestCounter } from "../../metrics/instruments.ts";
import type { IdempotencyKey } from "../../runtime/queued-command.ts";
import { challenge, type Header, ok, type Result } from "../../runtime/results.ts";
import type { UnsentBytes } from "../../runtime/unsent-bytes.ts";
import { isPieced } from "../answer-bytes.ts";
import { varies } from "../answer-compressor.ts";
import type { Binding, Call, ExecuteOperation, HttpReply } from "../calls.ts";
import { isWriteOnly } from "../identity/authentication.ts";
import { recordUse } from "../identity/session-use.ts";
import { countFailedKey, nameOf, type RateLimits, rateLines } from "../rate-limits.ts";
import { refused } from "../refused.ts";
import { type ParameterReader, type ParsedParams, parameterReader } from "./parameters.ts";
import { Router } from "./router.ts";

interface Route extends Binding {
  readonly reader: ParameterReader;
  /** What to redact in its answers; null: they show nobody. */
  readonly redaction: Plan | null;
  /** Counts an answer, and returns it. */
  readonly counted: (reply: HttpReply) => HttpReply;
}

export interface OperationExecutorOptions {
  readonly bindings: readonly Binding[];
  readonly rates: RateLimits;
  /** A handler threw: logged with its operation and answered with 500 (M6). */
  readonly reportBug: (error: unknown, operationId: string) => void;
  readonly clock: { now(): number };
  /** Maximum size of a file that is streamed to disk. */
  readonly fileBytesMax: number;
  readonly unsent: UnsentBytes;
}

/** How an operation accepts files. */
export interface UploadKind {
  /** Maximum size of one file. */
  readonly bytesMax: number;
  /** The file is streamed to disk instead of being held in memory. */
  readonly isStaged: boolean;
}

export interface OperationExecutor {
  readonly execute: ExecuteOperation;
  /** Answers by operation; "none" has those for paths and methods that do not exist. */
  readonly requests: RequestCounter;
  /** How the requested operation accepts files; null if it accepts none or does not exist. */
  uploadOf(method: string, path: string): UploadKind | null;
  /** The declared path of the requested operation; null if it does not exist. */
  pathOf(method: string, path: string): string | null;
  /** The methods of a path, for OPTIONS; null for an unknown path. */
  methodsOf(path: string): readonly string[] | null;
}

export function createOperationExecutor(options: OperationExecutorOptions): OperationExecutor {
  const requests = new RequestCounter([...options.bindings.map(({ endpoint }) => endpoint.operationId), "none"]);
  const counterOf = (operation: number) => (reply: HttpReply) => {
    requests.count(operation, reply.status);
    return reply;
  };
  const unrouted = counterOf(options.bindings.length);
  const routes = options.bindings.map((binding, operation) => ({
    ...binding,
    counted: counterOf(operation),
    reader: parameterReader(binding.endpoint),
    redaction: planFor(binding.endpoint.okSchema),
  }));
  const router = new Router<Route>(routes);

  const execute: ExecuteOperation = (call) => {
    const match = router.match(call.method, call.path);
    if (match.kind === "unknown") return unrouted(refused(refuse.notFound()));
    if (match.kind === "malformed") {
      return unrouted(refused(refuse.badRequest("Malformed percent-encoding in the path")));
    }
    if (match.kind === "wrong-method") {
      return unrouted(refused(refuse.methodNotAllowed(match.allowed), [["Allow", match.allowed.join(", ")]]));
    }
    const route = match.target;
    const refusal =
      admit(route, call, options) ??
      (mayBeLarge(route) && !hasRoomFor(call, options.unsent) ? refuse.overloaded() : null) ??
      readCall(route, call, { variables: match.variables, fileBytesMax: options.fileBytesMax });
    return refusal === null ? run(route, call, options) : route.counted(refused(refusal, call.headers));
  };

  return {
    execute,
    requests,
    uploadOf(method, path) {
      const match = router.match(method, path);
      const upload = match.kind === "found" ? match.target.endpoint.upload : undefined;
      if (upload === undefined) return null;
      return { bytesMax: upload.bytesMax ?? options.fileBytesMax, isStaged: upload.bytesMax === null };
    },
    pathOf(method, path) {
      const match = router.match(method, path);
      return match.kind === "found" ? match.target.endpoint.path : null;
    },
    methodsOf(path) {
      const match = router.match("OPTIONS", path);
      return match.kind === "wrong-method" ? match.allowed : null;
    },
  };
}

type Headers = readonly Header[];

/** A call whose later fields are being filled in. */
type OpenCall = { -readonly [K in keyof Call]: Call[K] };

/** Codes for invalid credentials that need a challenge. For missing credentials `refused` adds it (D2). */
const challenged: ReadonlySet<string> = new Set(["INVALID_API_KEY", "USER_DEACTIVATED", "REALM_DEACTIVATED"]);

/**
 * Checks authentication, limits and role, in the order in which rejections are reported. Credentials that were sent
 * must be valid.
 */
function admit(route: Route, call: OpenCall, options: OperationExecutorOptions): Refusal | null {
  const { unauthorized, caller } = call;
  const { authentication } = route.endpoint;
  const mustBeGood = authentication === "user" || (authentication === "optional" && call.hasCredentials);
  if (mustBeGood && unauthorized !== null) {
    const refusal = countFailedKey<never>(options.rates, unauthorized, call.address());
    if (challenged.has(refusal.code)) call.headers = [challenge];
    return refusal;
  }
  if (call.isSession || route.endpoint.setsCookies === true) call.headers = [unstored];
  if (route.endpoint.setsCookies === true && isFromForeignPage(call.page)) return refuse.crossSite();
  // The server settings remain available, so that a client can show which server it reached.
  if (call.realm.view.realm.deactivatedAt !== null && route.endpoint.operationId !== getServerSettings.operationId) {
    return refuse.realmDeactivated();
  }
  if (authentication !== "none" && route.endpoint.allowsIncomingWebhooks !== true && isWriteOnly(caller)) {
    return refuse.notForIncomingWebhooks();
  }
  const kind = caller === null ? "anonymous" : "api";
  if (!options.rates.isLimited(kind)) return checkRole(route, caller);
  const who = caller === null ? call.address() : nameOf(call.realm.epoch, caller);
  const state = options.rates.take(kind, who);
  if (state === null) return checkRole(route, caller);
  call.rateLines = rateLines(state, options.clock.now());
  return state.retryAfterS > 0 ? refuse.rateLimitHit(state.retryAfterS) : checkRole(route, caller);
}

/** Answers that may have many megabytes: reads, and the state of a new queue. */
function mayBeLarge({ endpoint }: Route): boolean {
  return endpoint.effectiveness === "read" || endpoint.operationId === registerQueue.operationId;
}

/** A client that leaves its answers unread is rejected before another one is built. */
function hasRoomFor({ realm, caller, address }: Call, unsent: UnsentBytes): boolean {
  if (unsent.sum === 0) return true;
  return unsent.hasRoomFor(caller === null ? address() : nameOf(realm.epoch, caller));
}

/** Checked before the parameters: a caller without permission learns that first (behaviour 2). */
function checkRole(route: Route, caller: UserRecord | null): Refusal | null {
  const { role } = route.endpoint;
  if (role === undefined || caller === null) return null;
  if (role === "administrator") return isAdministrator(caller) ? null : refuse.administratorRequired();
  if (role !== "human" && isGuest(caller)) return refuse.guestsNotAllowed();
  return role === "member" || caller.botType === null ? null : refuse.botsNotAllowed();
}

/** Reads the parameters, the files and the Idempotency-Key of an admitted call into it. */
function readCall(
  route: Route,
  call: OpenCall,
  { variables, fileBytesMax }: { readonly variables: readonly string[]; readonly fileBytesMax: number },
): Refusal | null {
  const { upload } = route.endpoint;
  const submitted = call.readParams(upload !== undefined);
  if ("kind" in submitted) return submitted;
  const bytesMax = upload?.bytesMax ?? fileBytesMax;
  if (submitted.files.some(({ bytes }) => bytes.length > bytesMax)) return refuse.fileTooLarge(bytesMax);
  const parsed = route.reader.read(submitted.values, variables);
  if ("kind" in parsed) return parsed;
  call.files = submitted.files;
  if (submitted.stagedFiles !== undefined) call.stagedFiles = submitted.stagedFiles;
  call.params = parsed.params;
  call.ignored = parsed.ignored;
  const key = idempotencyKeyOf(route, call, parsed.params);
  if (key !== null && "kind" in key) return key;
  call.idempotencyKey = key;
  return null;
}

/** D25: only for operations with a durable effect and an authenticated caller. */
function idempotencyKeyOf(route: Route, call: Call, params: ParsedParams["params"]): IdempotencyKey | Refusal | null {
  const { idempotencyHeader: key, caller, files, stagedFiles } = call;
  if (key === null || route.endpoint.effectiveness !== "durable" || caller === null) return null;
  if (key === "" || key.length > limits.idempotency_key_bytes_max) {
    return refuse.badRequest(`Idempotency-Key must have 1 to ${limits.idempotency_key_bytes_max} characters`);
  }
  const contents = files.map(({ bytes }) => createHash("sha256").update(bytes).digest("base64url"));
  // The file's URL contains its name.
  const staged = stagedFiles.map(({ filename, sha256 }) => [filename, sha256]);
  const known = withoutSecrets(route, params);
  const request = JSON.stringify([route.endpoint.operationId, known, ...contents, ...staged]);
  return {
    userId: caller.id,
    keyHash: createHash("sha256").update(key).digest("base64url"),
    paramsHash: createHash("sha256").update(request).digest("base64url"),
  };
}

/** A password must not be covered by a fast hash, not even together with other data (S2). */
function withoutSecrets(route: Route, params: ParsedParams["params"]): Record<string, unknown> {
  const isSecret = (name: string) => (route.endpoint.params[name] as { secret?: boolean } | undefined)?.secret === true;
  return Object.fromEntries(Object.entries(params).filter(([name]) => !isSecret(name)));
}

function run(route: Route, call: Call, options: OperationExecutorOptions): HttpReply | Promise<HttpReply> {
  const { idempotencyKey, realm } = call;
  if (call.isSession) recordUse(call);
  // Must precede checks of state that may have changed since: a channel's name, the sender's permissions (D25).
  const kept = idempotencyKey === null ? null : realm.dispatcher.inFlightRequests.kept(idempotencyKey, realm.view.now);
  if (kept !== null) return answer(route, call, kept);
  const fail = (error: unknown) => {
    options.reportBug(error, route.endpoint.operationId);
    return route.counted(refused(refuse.internalError(), call.headers));
  };
  try {
    const result = route.handler(call);
    if (!(result instanceof Promise)) return answer(route, call, result);
    const isRead = route.endpoint.effectiveness === "read";
    return result.then((later) => answer(route, call, isRead ? stillDue(call, later) : later), fail);
  } catch (error) {
    return fail(error);
  }
}

function answer(route: Route, call: Call, result: Result): HttpReply {
  const shown = route.projectAnswer === null ? result : route.projectAnswer(call, result);
  return route.counted(replyTo(redacted(route, call, shown), call));
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
function redacted({ redaction }: Route, { realm, caller }: Call, result: Result): Result {
  if (redaction === null || result.kind !== "ok" || caller === null) return result;
  // The current record: the turn that answered may have changed the caller's role to guest.
  const hidden = redactor(realm.view, realm.view.users.get(caller.id) ?? caller);
  return hidden === null ? result : ok(hidden.follow(result.answer, redaction));
}

/** The start of a successful answer whose other fields are already JSON. */
const emptyEnvelope = '{"result":"success","msg":""';
const envelope = `${emptyEnvelope},`;
const envelopeBytes = Buffer.from(envelope);
const endBytes = Buffer.from("}");

/** Turns a result into status, headers and body. */
function replyTo(result: Result, { ignored, headers, ifNoneMatch }: Call): HttpReply {
  if (result.kind === "refused") return refused(result, headers);
  const caching: Headers = headers.includes(unstored) ? [] : [privateCache];
  /** The last field, with the comma before it. */
  const rest = ignored.length > 0 ? `,"ignored_parameters_unsupported":${JSON.stringify(ignored)}` : "";
  if (result.kind === "ok") {
    // The envelope is text: copying the fields into another object would cost more than encoding them.
    const fields = JSON.stringify(result.answer).slice(1, -1);
    const body = fields === "" ? `${emptyEnvelope}${rest}}` : `${envelope}${fields}${rest}}`;
    return { status: 200, body, headers: result.headers === undefined ? headers : [...headers, ...result.headers] };
  }
  if (result.kind === "redirect") {
    const to: Headers = [["Location", result.location], ...caching];
    return { status: 302, body: `${emptyEnvelope}${rest}}`, headers: [...headers, ...to] };
  }
  const tagged: Headers = result.etag === undefined ? headers : [...headers, ["ETag", result.etag], ...caching];
  // Ignored parameters belong to the request and not to the content, so such an answer is always sent in full.
  if (ignored.length === 0 && result.etag !== undefined && names(ifNoneMatch, result.etag)) {
    return { status: 304, body: "", headers: [...tagged, varies] };
  }
  if (result.kind === "encoded") {
    const { fields } = result;
    const end = rest === "" ? endBytes : `${rest}}`;
    const body = isPieced(fields) ? [envelopeBytes, ...fields, end] : `${envelope}${fields}${rest}}`;
    return { status: 200, body, headers: tagged };
  }
  const body = rest === "" ? result.body : Buffer.concat([result.body.subarray(0, -1), Buffer.from(`${rest}}`)]);
  return { status: 200, body, headers: tagged };
}

/**
 * An Authorization header forbids shared caches to keep the answer, and a cookie does not. A browser that was logged out
 * must not show the answer either (D277).
 */
const unstored: readonly [string, string] = ["Cache-Control", "private, no-store"];

/** Answers differ by caller: a client may cache them, but must revalidate each time. */
const privateCache: readonly [string, string] = ["Cache-Control", "private, no-cache"];

/** Whether the list of an If-None-Match header contains the tag (RFC 9110, weak comparison). */
function names(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === "") return false;
  return ifNoneMatch.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
}
