/**
 * What a call is, however it came (REST or a frame on a socket): an operation, a caller, parameters. Handlers are bound to
 * operations by id; the composition root merges the tables of all areas.
 */

import type { Static, TObject, TProperties } from "typebox";
import type { Endpoint } from "../../schemas/endpoint.ts";
import type { Refusal } from "../../schemas/errors.ts";
import type { UserRecord } from "../../schemas/records.ts";
import type { FileDraft } from "../store/file-draft.ts";
import type { AskResult, IdempotencyClaim } from "./entry.ts";
import type { Realm } from "./realm.ts";

/** An answer whose fields are JSON already (events, lists that many ask for): `"events":[...]`, without braces. */
export interface EncodedAnswer {
  readonly kind: "encoded";
  readonly fields: string;
  /** Names this content: who says that it has it already (If-None-Match) is answered 304. Quoted, as in the header. */
  readonly etag?: string;
}

/** Sent one after another; those in a buffer are UTF-8. */
export type Pieces = readonly (string | Buffer)[];

/** The same for a long answer: its fields are the pieces together. */
export interface PiecedAnswer {
  readonly kind: "pieced";
  readonly pieces: Pieces;
}

/** An answer that is ready to be sent as it is, envelope and all; it is shared by many answers and never written to. */
export interface WholeAnswer {
  readonly kind: "whole";
  /** UTF-8 JSON of an object. */
  readonly body: Buffer;
  /** As in EncodedAnswer. */
  readonly etag: string;
}

/** What is asked for is elsewhere, for now. */
export interface RedirectAnswer {
  readonly kind: "redirect";
  /** Below this server's address. */
  readonly location: string;
}

export type Handled = AskResult | EncodedAnswer | PiecedAnswer | WholeAnswer | RedirectAnswer;

/** A file in a multipart body. */
export interface UploadedFile {
  /** What the client calls it, without folders and control characters: a label, never a path. */
  readonly filename: string;
  /** What the client says that it is: nothing here believes it. */
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** A file in a multipart body that went to disk as it came; it is finished, and nobody's yet. */
export interface DraftedFile {
  /** As in UploadedFile. */
  readonly filename: string;
  /** The random part of its name (schemas/files.ts). */
  readonly file: string;
  readonly draft: FileDraft;
  /** Of its bytes. */
  readonly sha256: string;
}

/** What was sent with a call: one value per name, and files where the operation takes them. */
export interface Submitted {
  readonly values: ReadonlyMap<string, string>;
  readonly files: readonly UploadedFile[];
  /** Where the operation takes them on disk. */
  readonly drafts?: readonly DraftedFile[];
}

/** Whom good credentials name, and by which key. */
export interface Authenticated {
  readonly caller: UserRecord;
  /** SHA-256 of the key (S2). */
  readonly keyHash: string;
}

export interface Call<P = unknown> {
  readonly realm: Realm;
  /** null where the operation allows anonymous callers. */
  readonly caller: UserRecord | null;
  /** Hash of the key that the caller showed; null for anonymous ones. */
  readonly keyHash: string | null;
  readonly params: P;
  /** None where the operation does not declare `upload`; each within its bound. */
  readonly files: readonly UploadedFile[];
  readonly drafts: readonly DraftedFile[];
  /** Name of the client program (D35). */
  readonly client: string;
  /** What the client calls this server, e.g. `https://chat.example.org`. */
  readonly siteUrl: string;
  readonly userAgent: string;
  /** Where the request came from, for limits; asked for before anything is awaited. */
  readonly address: () => string;
  readonly claim: IdempotencyClaim | null;
  /** Calls back when the caller hangs up; already gone: at once. */
  readonly onAbort: (callback: () => void) => void;
}

export type Handler<P = unknown> = (call: Call<P>) => Handled | Promise<Handled>;

/** What a caller is told of an answer, where what is kept under an Idempotency-Key must not say it (S2): of the first and of a kept one. */
export type Telling<P = unknown> = (call: Call<P>, answer: Handled) => Handled;

export interface Binding {
  readonly endpoint: Endpoint;
  readonly handler: Handler;
  /** null: the answer as it is. */
  readonly tell: Telling | null;
}

/** Binds a handler to its operation, with the parameters that the declaration says. */
export function bind<P extends TProperties, R extends TProperties>(
  endpoint: Endpoint<P, R>,
  handler: Handler<Static<TObject<P>>>,
  tell: Telling<Static<TObject<P>>> | null = null,
): Binding {
  return { endpoint: endpoint as unknown as Endpoint, handler: handler as Handler, tell: tell as Telling | null };
}

/** The caller of an operation that demands one. The performer guarantees it. */
export function callerOf(call: Call): UserRecord {
  if (call.caller === null) throw new Error("this operation has no anonymous callers");
  return call.caller;
}

/** The caller as they are now: a turn may have changed their rights since the request came. For what is told after an `await` (S1). */
export function callerNow(call: Call): UserRecord {
  const { id } = callerOf(call);
  const caller = call.realm.view.users.get(id);
  if (caller === undefined) throw new Error(`caller ${id} is not there any more`);
  return caller;
}

/** A call before its parameters are read: what REST and sockets share. */
export interface RawCall {
  readonly realm: Realm;
  readonly method: string;
  /** Below /api/v1, still percent-encoded. */
  readonly path: string;
  /** Called when the caller is known to be admitted. */
  readonly readParams: (takesFiles: boolean) => Submitted | Refusal;
  /** Whether any were sent, good or bad. */
  readonly hasCredentials: boolean;
  readonly credentials: Authenticated | Refusal;
  readonly client: string;
  readonly siteUrl: string;
  readonly userAgent: string;
  readonly address: () => string;
  readonly idempotencyKey: string | null;
  /** The header of that name, "" without. */
  readonly ifNoneMatch: string;
  readonly onAbort: (callback: () => void) => void;
}

export type AnswerBody = string | Buffer | Pieces;

/** What comes out: an HTTP status and a body, with headers that a refusal needs. */
export interface Performed {
  readonly status: number;
  readonly body: AnswerBody;
  /** JSON, where it is not said. */
  readonly contentType?: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly closesConnection?: boolean;
  /** Sent instead of the body, piece by piece as the client takes them. */
  readonly file?: FileSlice;
}

/** A part of an open file; whoever sends it closes it. */
export interface FileSlice {
  readonly start: number;
  readonly length: number;
  /** At most that many bytes, fewer only at the file's end. */
  read(position: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

export type Perform = (call: RawCall) => Performed | Promise<Performed>;

/** What the caller calls this server, without port. */
export function hostOf(call: { readonly siteUrl: string }): string {
  return call.siteUrl.replace(/^https?:\/\//, "").replace(/:\d+$/, "");
}
