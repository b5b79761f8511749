/**
 * Carries out a call: route, authenticate, limits, parameters, handler, answer (README, The path of a write). REST and the
 * socket's `call` frame share it. Every exit is a declared answer in the envelope (spec 2.1).
 */
import { createHash } from "node:crypto";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { registerQueue } from "../../schemas/queues.ts";
import { getServerSettings } from "../../schemas/server.ts";
import { isAdministrator, isGuest } from "../domain/permissions.ts";
import { concealer } from "../domain/unknown-people.ts";
import type {
  Binding,
  Call,
  DraftedFile,
  Handled,
  Perform,
  Performed,
  RawCall,
  UploadedFile,
} from "../runtime/calls.ts";
import { bodyOf, challenge, type IdempotencyClaim, ok } from "../runtime/entry.ts";
import type { UnsentBytes } from "../runtime/unsent-bytes.ts";
import { refuseWriteOnly } from "./authentication.ts";
import { compileParameters, type ParameterReader, type ParsedParams } from "./parameters.ts";
import { countFailedKey, personName, type RateLimits, type RateState } from "./rate-limits.ts";
import { refused } from "./refused.ts";
import { Router } from "./router.ts";

interface Route extends Binding {
  readonly reader: ParameterReader;
}

export interface PerformerOptions {
  readonly bindings: readonly Binding[];
  readonly rates: RateLimits;
  /** A handler threw: logged with its operation, answered as 500 (M6). */
  readonly reportBug: (error: unknown, operationId: string) => void;
  readonly clock: { now(): number };
  /** How large a file may be that goes to disk as it comes. */
  readonly fileBytesMax: number;
  readonly unsent: UnsentBytes;
}

/** What an operation takes as files. */
export interface UploadKind {
  /** Of one file. */
  readonly bytesMax: number;
  /** It goes to disk as it comes, and is not held in memory. */
  readonly isDrafted: boolean;
}

export interface Performer {
  readonly perform: Perform;
  /** What the operation that is meant takes as files; null: none, or there is no such operation. */
  uploadOf(method: string, path: string): UploadKind | null;
  /** Methods of a path, for OPTIONS; null: unknown path. */
  methodsOf(path: string): readonly string[] | null;
}

export function createPerformer(options: PerformerOptions): Performer {
  const routes = options.bindings.map((binding) => ({ ...binding, reader: compileParameters(binding.endpoint) }));
  const router = new Router<Route>(routes);

  const perform: Perform = (call) => {
    const match = router.match(call.method, call.path);
    if (match.kind === "unknown") return refused(refuse.notFound());
    if (match.kind === "malformed") return refused(refuse.badRequest("Malformed percent-encoding in the path"));
    if (match.kind === "wrong-method") {
      return refused(refuse.methodNotAllowed(match.allowed), [["Allow", match.allowed.join(", ")]]);
    }
    const route = match.target;
    const { refusal, headers } = admit(route, call, options);
    if (refusal !== null) return refused(refusal, headers);
    if (mayBeLarge(route) && !hasRoomFor(call, options.unsent)) return refused(refuse.overloaded(), headers);
    const { upload } = route.endpoint;
    const submitted = call.readParams(upload !== undefined);
    if ("kind" in submitted) return refused(submitted, headers);
    const { files, drafts = [] } = submitted;
    const bytesMax = upload?.bytesMax ?? options.fileBytesMax;
    if (files.some(({ bytes }) => bytes.length > bytesMax)) return refused(refuse.fileTooLarge(bytesMax), headers);
    const parsed = route.reader.read(submitted.values, match.variables);
    if ("kind" in parsed) return refused(parsed, headers);
    const claim = claimOf(route, call, { parsed, files, drafts });
    if (claim !== null && "kind" in claim) return refused(claim, headers);
    return run(route, call, { parsed, files, drafts, claim, headers }, options);
  };

  return {
    perform,
    uploadOf(method, path) {
      const match = router.match(method, path);
      const upload = match.kind === "found" ? match.target.endpoint.upload : undefined;
      if (upload === undefined) return null;
      return { bytesMax: upload.bytesMax ?? options.fileBytesMax, isDrafted: upload.bytesMax === null };
    },
    methodsOf(path) {
      const match = router.match("OPTIONS", path);
      return match.kind === "wrong-method" ? match.allowed : null;
    },
  };
}

type Headers = readonly (readonly [string, string])[];

interface Admission {
  readonly refusal: Refusal | null;
  readonly headers: Headers;
}

/** Refused credentials; where there were none, `refused` adds it (D2). */
const challenged: ReadonlySet<string> = new Set(["INVALID_API_KEY", "USER_DEACTIVATED", "REALM_DEACTIVATED"]);

/** Authentication, limits, role: the order in which a refusal is told. Credentials that were sent must be good. */
function admit(route: Route, call: RawCall, options: PerformerOptions): Admission {
  const { credentials } = call;
  const { authentication } = route.endpoint;
  const mustBeGood = authentication === "user" || (authentication === "optional" && call.hasCredentials);
  if (mustBeGood && !("caller" in credentials)) {
    const refusal = countFailedKey(options.rates, credentials, call.address());
    return { refusal, headers: challenged.has(refusal.code) ? [challenge] : [] };
  }
  // What the server is may be asked still, so that a client can say what it met.
  if (call.realm.view.realm.deactivatedAt !== null && route.endpoint.operationId !== getServerSettings.operationId) {
    return { refusal: refuse.realmDeactivated(), headers: [] };
  }
  if (authentication !== "none" && route.endpoint.allowsIncomingWebhooks !== true) {
    const refusal = refuseWriteOnly(credentials);
    if (refusal !== null) return { refusal, headers: [] };
  }
  const kind = "caller" in credentials ? "api" : "anonymous";
  if (!options.rates.isLimited(kind)) return { refusal: checkRole(route, call), headers: [] };
  const who = "caller" in credentials ? personName(call.realm.epoch, credentials.caller.id) : call.address();
  const state = options.rates.take(kind, who);
  if (state === null) return { refusal: checkRole(route, call), headers: [] };
  const limited = state.retryAfterS > 0 ? refuse.rateLimitHit(state.retryAfterS) : checkRole(route, call);
  return { refusal: limited, headers: rateHeaders(state, options.clock.now()) };
}

/** Answers that can be many megabytes: readings, and the state of a new queue. */
function mayBeLarge({ endpoint }: Route): boolean {
  return endpoint.effectiveness === "read" || endpoint.operationId === registerQueue.operationId;
}

/** A reader that leaves its answers unread gets no more of them: it is refused before one is made. */
function hasRoomFor({ realm, credentials, address }: RawCall, unsent: UnsentBytes): boolean {
  if (unsent.sum === 0) return true;
  return unsent.hasRoomFor("caller" in credentials ? personName(realm.epoch, credentials.caller.id) : address());
}

/** Before the parameters: who may not do it at all is told so, whatever else is wrong (behaviour 2). */
function checkRole(route: Route, call: RawCall): Refusal | null {
  const { role } = route.endpoint;
  if (role === undefined || !("caller" in call.credentials)) return null;
  const { caller } = call.credentials;
  if (role === "administrator") return isAdministrator(caller) ? null : refuse.administratorRequired();
  if (role !== "human" && isGuest(caller)) return refuse.guestsNotAllowed();
  return role === "member" || caller.botType === null ? null : refuse.botsNotAllowed();
}

function rateHeaders(state: RateState, now: number): Headers {
  return [
    ["X-RateLimit-Limit", String(state.limit)],
    ["X-RateLimit-Remaining", String(state.remaining)],
    ["X-RateLimit-Reset", String(Math.ceil(now / 1000 + state.resetS))],
  ];
}

/** D25: only where something durable changes, and only for a caller. */
function claimOf(route: Route, call: RawCall, { parsed, files, drafts }: Sent): IdempotencyClaim | Refusal | null {
  const key = call.idempotencyKey;
  if (key === null || route.endpoint.effectiveness !== "durable" || !("caller" in call.credentials)) return null;
  if (key === "" || key.length > limits.idempotency_key_bytes_max) {
    return refuse.badRequest(`Idempotency-Key must have 1 to ${limits.idempotency_key_bytes_max} characters`);
  }
  const contents = files.map(({ bytes }) => createHash("sha256").update(bytes).digest("base64url"));
  // An address is made of the file's name.
  const drafted = drafts.map(({ filename, sha256 }) => [filename, sha256]);
  const params = withoutSecrets(route, parsed.params);
  const request = JSON.stringify([route.endpoint.operationId, params, ...contents, ...drafted]);
  return {
    userId: call.credentials.caller.id,
    keyHash: createHash("sha256").update(key).digest("base64url"),
    paramsHash: createHash("sha256").update(request).digest("base64url"),
  };
}

/** A password must not stand under a fast hash, not even among other things (S2). */
function withoutSecrets(route: Route, params: ParsedParams["params"]): Record<string, unknown> {
  const isSecret = (name: string) => (route.endpoint.params[name] as { secret?: boolean } | undefined)?.secret === true;
  return Object.fromEntries(Object.entries(params).filter(([name]) => !isSecret(name)));
}

interface Sent {
  readonly parsed: ParsedParams;
  readonly files: readonly UploadedFile[];
  readonly drafts: readonly DraftedFile[];
}

interface Prepared extends Sent {
  readonly claim: IdempotencyClaim | null;
  readonly headers: Headers;
}

function run(
  route: Route,
  call: RawCall,
  { parsed, files, drafts, claim, headers }: Prepared,
  options: PerformerOptions,
): Performed | Promise<Performed> {
  const asked: Call = {
    realm: call.realm,
    caller: "caller" in call.credentials ? call.credentials.caller : null,
    keyHash: "caller" in call.credentials ? call.credentials.keyHash : null,
    params: parsed.params,
    files,
    drafts,
    client: call.client,
    siteUrl: call.siteUrl,
    userAgent: call.userAgent,
    address: call.address,
    claim,
    onAbort: call.onAbort,
  };
  const give = (handled: Handled) => {
    const told = route.tell === null ? handled : route.tell(asked, handled);
    return performed(concealed(call, told), { ignored: parsed.ignored, headers, ifNoneMatch: call.ifNoneMatch });
  };
  const fail = (error: unknown) => {
    options.reportBug(error, route.endpoint.operationId);
    return refused(refuse.internalError(), headers);
  };
  // Before anything is looked at that may have changed since: a channel's name, the sender's rights (D25).
  const kept = claim === null ? null : call.realm.dispatcher.claims.kept(claim, call.realm.view.now);
  if (kept !== null) return give(kept);
  try {
    const handled = route.handler(asked);
    if (!(handled instanceof Promise)) return give(handled);
    return handled.then((later) => give(route.endpoint.effectiveness === "read" ? stillDue(call, later) : later), fail);
  } catch (error) {
    return fail(error);
  }
}

/** A long reading ends with the account or the key that it was asked with, as a held poll does (S1). A refusal tells nothing. */
function stillDue({ realm: { view }, credentials }: RawCall, handled: Handled): Handled {
  if (handled.kind === "refused" || !("caller" in credentials)) return handled;
  if (view.users.get(credentials.caller.id)?.isActive !== true) return refuse.userDeactivated();
  return view.apiKey(credentials.keyHash) === undefined ? refuse.invalidApiKey() : handled;
}

/** Whoever may not know everybody is told of nobody else (S1). Answers that are encoded already say nothing of people, or were looked through. */
function concealed({ realm, credentials }: RawCall, handled: Handled): Handled {
  if (handled.kind !== "ok" || !("caller" in credentials)) return handled;
  // As they are now: the turn that answered may have made them a guest.
  const { caller } = credentials;
  const hidden = concealer(realm.view, realm.view.users.get(caller.id) ?? caller);
  return hidden === null ? handled : ok(hidden.conceal(handled.answer));
}

interface Framing {
  readonly ignored: readonly string[];
  readonly headers: Headers;
  readonly ifNoneMatch: string;
}

function performed(handled: Handled, { ignored, headers, ifNoneMatch }: Framing): Performed {
  if (handled.kind === "refused") return refused(handled, headers);
  const listed = ignored.length > 0 ? { ignored_parameters_unsupported: ignored } : {};
  if (handled.kind === "ok") {
    return { status: 200, body: JSON.stringify(Object.assign(bodyOf(handled), listed)), headers };
  }
  if (handled.kind === "redirect") {
    const to: Headers = [["Location", handled.location], privateCache];
    return {
      status: 302,
      body: JSON.stringify({ result: "success", msg: "", ...listed }),
      headers: [...headers, ...to],
    };
  }
  if (handled.kind === "pieced") {
    const end = ignored.length > 0 ? `,${JSON.stringify(listed).slice(1)}` : "}";
    return { status: 200, body: ['{"result":"success","msg":"",', ...handled.pieces, end], headers };
  }
  const tagged: Headers = handled.etag === undefined ? headers : [...headers, ["ETag", handled.etag], privateCache];
  // A list of ignored parameters belongs to the request, not to the content: such an answer is always given whole.
  if (ignored.length === 0 && handled.etag !== undefined && names(ifNoneMatch, handled.etag)) {
    return { status: 304, body: "", headers: tagged };
  }
  const rest = ignored.length > 0 ? `,${JSON.stringify(listed).slice(1, -1)}` : "";
  if (handled.kind === "encoded") {
    return { status: 200, body: `{"result":"success","msg":"",${handled.fields}${rest}}`, headers: tagged };
  }
  const body = rest === "" ? handled.body : Buffer.concat([handled.body.subarray(0, -1), Buffer.from(`${rest}}`)]);
  return { status: 200, body, headers: tagged };
}

/** Answers differ by caller: a client may keep one, but asks each time. */
const privateCache: readonly [string, string] = ["Cache-Control", "private, no-cache"];

/** Whether an If-None-Match header has the tag in its list (RFC 9110, weak comparison). */
function names(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === "") return false;
  return ifNoneMatch.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
}
