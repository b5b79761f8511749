/**
 * The results of operations, from an actor's reply to the transport: one union by `kind`. Rejections and bugs are
 * values. The HTTP form is built from it in one place (http/operation-executor.ts).
 */
import type { Answer } from "../../schemas/answer.ts";
import { errorBody, errorCodes, type Refusal } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";

/** Success: the fields of the response besides the envelope. */
export interface Ok<A = Answer> {
  readonly kind: "ok";
  readonly answer: A;
  /** Headers of this answer only; never stored under an Idempotency-Key. */
  readonly headers?: readonly Header[];
}

/** An actor's reply to a command. */
export type Reply<A = Answer> = Ok<A> | Refusal;

/** Sent one after another; buffers hold UTF-8. */
export type Pieces = readonly (string | Buffer)[];

/**
 * An answer whose fields are already JSON (events, lists that many clients request): `"events":[...]`, without braces.
 * The fields of a long answer stay in pieces, because joining megabytes would block the event loop (S3).
 */
export interface EncodedAnswer {
  readonly kind: "encoded";
  readonly fields: string | Pieces;
  /** Identifies this content: a client that sends it in If-None-Match gets 304. Quoted, as in the header. */
  readonly etag?: string;
}

/** A complete answer, envelope included, that is sent as it is. Many responses share it, so it is never modified. */
export interface WholeAnswer {
  readonly kind: "whole";
  /** UTF-8 JSON of an object. */
  readonly body: Buffer;
  /** As in EncodedAnswer. */
  readonly etag: string;
}

/** A temporary redirect. */
export interface RedirectAnswer {
  readonly kind: "redirect";
  /** Path below this server's address. */
  readonly location: string;
}

/** What a handler returns. */
export type Result<A = Answer> = Reply<A> | EncodedAnswer | WholeAnswer | RedirectAnswer;

/** HTTP status of a result. */
export function statusOf(result: Reply): number {
  return result.kind === "ok" ? 200 : errorCodes[result.code].status;
}

/** The fields of a result in the response body. */
export function bodyOf(result: Reply): Record<string, unknown> {
  return result.kind === "ok" ? { result: "success", msg: "", ...result.answer } : errorBody(result);
}

export type Header = readonly [name: string, value: string];

/** Tells the client how to authenticate (D2). */
export const challenge: Header = ["WWW-Authenticate", 'Basic realm="colloquy"'];

/** Headers that a rejection needs on every transport. Retry-After is in whole seconds (D1). */
export function headersOf(refusal: Refusal): readonly Header[] {
  if (refusal.code === "UNAUTHORIZED") return [challenge];
  if (refusal.code === "OWNER_UNREACHABLE") return [["Retry-After", String(limits.forward_retry_s)]];
  if (refusal.code === "OVERLOADED") return [["Retry-After", String(limits.overloaded_retry_s)]];
  if (statusOf(refusal) !== 429) return [];
  return [["Retry-After", String(Math.ceil(Number(refusal.fields?.["retry-after"] ?? 1)))]];
}

export function ok<const A>(answer: A, headers?: readonly Header[]): Ok<A> {
  return headers === undefined ? { kind: "ok", answer } : { kind: "ok", answer, headers };
}
