/**
 * The results of operations, from an actor's reply to the edge: one union by `kind`. Rejections and bugs are values. An
 * edge encodes them in one place (edge/http/reply.ts, edge/realtime/socket-frames.ts).
 */
import type { Answer } from "../../schemas/answer.ts";
import { errorBody, errorCodes, type Refusal } from "../../schemas/errors.ts";

/** Success: the fields of the response besides the envelope. */
export interface Ok<A = Answer> {
  readonly kind: "ok";
  readonly answer: A;
  /** The browser's session from now on: its token, or null for none. Never stored under an Idempotency-Key. */
  readonly session?: string | null;
}

/** An actor's reply to a command. */
export type Reply<A = Answer> = Ok<A> | Refusal;

/** Sent one after another; buffers hold UTF-8. */
export type BodyParts = readonly (string | Buffer)[];

/**
 * An answer whose fields are already JSON (events, lists that many clients request): `"events":[...]`, without braces.
 * The fields of a long answer stay in pieces, because joining megabytes would block the event loop (S3).
 */
export interface EncodedAnswer {
  readonly kind: "encoded";
  readonly fields: string | BodyParts;
  /** Some of these fields as values, for the server itself. */
  readonly values?: Answer;
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

/** The result of a handler. */
export type Result<A = Answer> = Reply<A> | EncodedAnswer | WholeAnswer | RedirectAnswer;

/** HTTP status of a result. */
export function statusOf(result: Reply): number {
  return result.kind === "ok" ? 200 : errorCodes[result.code].status;
}

/** The fields of a result in the response body. */
export function bodyOf(result: Reply): Record<string, unknown> {
  return result.kind === "ok" ? { result: "success", msg: "", ...result.answer } : errorBody(result);
}

export function ok<const A>(answer: A): Ok<A> {
  return { kind: "ok", answer };
}
