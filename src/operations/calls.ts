/**
 * A call is an operation, a caller and parameters, whether it arrived by REST or in a socket frame; its reply is a
 * value, which the edge encodes. Handlers are bound to operations by id; the composition root merges the tables of all
 * areas.
 *
 * The bounds of the parameters that a client submits, by name, in a form or in a frame (S3).
 */
import type { Static, TObject, TProperties } from "typebox";
import type { Answer } from "../../schemas/answer.ts";
import type { AnswerOf, Endpoint } from "../../schemas/endpoint.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { IdempotencyKey } from "../runtime/queued-command.ts";
import type { Realm } from "../runtime/realm.ts";
import type { Result } from "../runtime/results.ts";
import type { StagedUpload } from "../store/staged-upload.ts";

/**
 * Adds one value.
 * @returns a rejection, or null
 */
export function addParameter<V>(form: Map<string, V>, name: string, value: V): Refusal | null {
  if (name.length > limits.form_name_characters_max) return refuse.badRequest("A parameter's name is too long");
  if (form.has(name)) return refuse.badRequest(`Parameter '${name}' was sent twice`);
  if (form.size >= limits.form_parameters_max) return tooManyParameters();
  form.set(name, value);
  return null;
}

export function tooManyParameters(): Refusal {
  return refuse.badRequest("Too many parameters");
}

/** A file in a multipart body. */
export interface UploadedFile {
  /** The client's name for the file, without folders and control characters: a label, never a path. */
  readonly filename: string;
  /** The type that the client claims. It is not trusted. */
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** A file of a multipart body that was streamed to disk. It is complete, but no row claims it yet. */
export interface StagedFile {
  /** As in UploadedFile. */
  readonly filename: string;
  /** The random part of its stored name (schemas/files.ts). */
  readonly file: string;
  readonly upload: StagedUpload;
  /** Hash of the file's bytes. */
  readonly sha256: string;
}

/** Parameters by name: texts of a form, or values of a frame. */
export interface Parameters {
  readonly size: number;
  get(name: string): unknown;
  keys(): Iterable<string>;
}

/** The parameters of a call: one value per name, and files where the operation accepts them. */
export interface Submitted {
  readonly values: Parameters;
  readonly files: readonly UploadedFile[];
  /** Where the operation accepts files as staged uploads. */
  readonly stagedFiles?: readonly StagedFile[];
}

/** The user whom valid credentials identify, and the API key or session used. */
export interface Authenticated {
  readonly caller: UserRecord;
  /** SHA-256 of the key, or of the session's token (S2). */
  readonly keyHash: string;
  readonly isSession: boolean;
}

/** The browser's statements about the page that made it send a request; each is "" if absent. */
export interface RequestingPage {
  readonly host: string;
  readonly origin: string;
  readonly fetchSite: string;
}

/** The request limit that a call counted against. */
export interface CallRate {
  readonly limit: number;
  readonly remaining: number;
  /** When the bucket is full again, in milliseconds. */
  readonly resetAtMs: number;
}

/**
 * A call from its arrival to its answer, shared by REST and sockets. The transport creates it with what it knows; the
 * executor fills in the rest once the caller is admitted, before the handler runs.
 */
export interface Call<P = unknown> {
  readonly realm: Realm;
  /** Called only after the caller was admitted. */
  readonly readParams: (takesFiles: boolean) => Submitted | Refusal;
  /** Whether credentials were sent, valid or not. */
  readonly hasCredentials: boolean;
  /** Why the call has no valid credentials; null if it has a caller. */
  readonly unauthorized: Refusal | null;
  /** null where the operation allows anonymous callers. */
  readonly caller: UserRecord | null;
  /** SHA-256 of the caller's API key or of the session's token (S2); null for anonymous callers. */
  readonly keyHash: string | null;
  /** Whether a session's cookie authenticated the caller (D256). */
  readonly isSession: boolean;
  readonly page: RequestingPage;
  /** Name of the client program (D35). */
  readonly client: string;
  /** The server's address as the client wrote it, e.g. `https://chat.example.org`. */
  readonly siteUrl: string;
  readonly userAgent: string;
  /** Address of the client, for limits. It must be read before the handler's first `await`. */
  readonly address: () => string;
  /** As the client sent it; null without one. */
  readonly sentIdempotencyKey: string | null;
  /** Registers a callback for when the caller disconnects. If the caller is already gone, it runs at once. */
  readonly onAbort: (callback: () => void) => void;
  /** Filled in by the executor, like all fields below. */
  readonly params: P;
  /** Empty unless the operation declares `upload`; each file is within its bound. */
  readonly files: readonly UploadedFile[];
  readonly stagedFiles: readonly StagedFile[];
  readonly idempotencyKey: IdempotencyKey | null;
  /** Names of parameters that the operation does not declare, ascending. */
  readonly ignored: readonly string[];
  /** The credentials that were sent are the reason of the refusal: a client may ask its user for others. */
  readonly isRejected: boolean;
  /** The caller's request limits; null without limits. */
  readonly rate: CallRate | null;
}

type FilledIn = "params" | "files" | "stagedFiles" | "idempotencyKey" | "ignored" | "isRejected" | "rate";

/** The fields of a call that a transport fills in. */
export type ArrivedCall = Omit<Call, FilledIn>;

const none = [] as const;

/** One literal, so that all calls have one hidden class: spreading defaults into each cost more than 10 us a request. */
export function arrivedCall(arrived: ArrivedCall): Call {
  return {
    realm: arrived.realm,
    readParams: arrived.readParams,
    hasCredentials: arrived.hasCredentials,
    unauthorized: arrived.unauthorized,
    caller: arrived.caller,
    keyHash: arrived.keyHash,
    isSession: arrived.isSession,
    page: arrived.page,
    client: arrived.client,
    siteUrl: arrived.siteUrl,
    userAgent: arrived.userAgent,
    address: arrived.address,
    sentIdempotencyKey: arrived.sentIdempotencyKey,
    onAbort: arrived.onAbort,
    params: null,
    files: none,
    stagedFiles: none,
    idempotencyKey: null,
    ignored: none,
    isRejected: false,
    rate: null,
  };
}

export type Handler<P = unknown, A = Answer> = (call: Call<P>) => Result<A> | Promise<Result<A>>;

/**
 * Turns the answer stored under an Idempotency-Key into the one that the caller sees, where it must not be stored (S2).
 * Applied to the first answer and to a stored one.
 */
export type AnswerProjection<P = unknown, S = Answer, A = Answer> = (call: Call<P>, stored: Result<S>) => Result<A>;

export interface Binding {
  readonly endpoint: Endpoint;
  readonly handler: Handler;
  /** null: the answer is sent unchanged. */
  readonly projectAnswer: AnswerProjection | null;
}

/** `S`, and no other fields of `A`. */
type Exact<A, S> = S & { readonly [K in Exclude<keyof A, keyof S>]: never };

/**
 * Binds a handler to its operation. The declaration types the handler's parameters and its answer: a field that `ok`
 * does not declare does not compile.
 */
export function bind<P extends TProperties, R extends TProperties, A extends Exact<A, AnswerOf<R>>>(
  endpoint: Endpoint<P, R>,
  handler: Handler<Static<TObject<P>>, A>,
): Binding {
  return { endpoint: endpoint as Endpoint, handler: handler as Handler, projectAnswer: null };
}

/** The same for an operation whose stored answer is not what the caller sees. */
export function bindProjected<P extends TProperties, R extends TProperties, S, A extends Exact<A, AnswerOf<R>>>(
  endpoint: Endpoint<P, R>,
  handler: Handler<Static<TObject<P>>, S>,
  projectAnswer: AnswerProjection<Static<TObject<P>>, S, A>,
): Binding {
  return {
    endpoint: endpoint as Endpoint,
    handler: handler as Handler,
    projectAnswer: projectAnswer as AnswerProjection,
  };
}

/** The caller of an operation that requires one. The operation executor guarantees it. */
export function requireCaller(call: Call): UserRecord {
  if (call.caller === null) throw new Error("this operation has no anonymous callers");
  return call.caller;
}

/**
 * The caller's current record: a turn may have changed their permissions since the request arrived. Use it for what is
 * returned after an `await` (S1).
 */
export function callerNow(call: Call): UserRecord {
  const { id } = requireCaller(call);
  const caller = call.realm.view.users.get(id);
  if (caller === undefined) throw new Error(`caller ${id} no longer exists`);
  return caller;
}

/** The server's host name as the client wrote it, without the port. */
export function hostOf(call: { readonly siteUrl: string }): string {
  return call.siteUrl.replace(/^https?:\/\//, "").replace(/:\d+$/, "");
}
