/**
 * The answer of an HTTP request, and how the result of an operation becomes one: once, at the edge.
 *
 * The body of an answer as bytes, encoded piece by piece while it is sent: a long body is never copied as a whole
 * (S3).
 *
 * The status line and the headers of an answer.
 *
 * Headers that guard browsers; every answer has them (D277).
 */
import type { Refusal } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import type { Call, CallRate } from "../../operations/calls.ts";
import type { Operation } from "../../operations/execution/operation-executor.ts";
import { type BodyParts, bodyOf, type Result, statusOf } from "../../runtime/results.ts";
import type { TransportResponse } from "../transport/transport.ts";
import { sessionCookie } from "./credentials.ts";
import type { RequestHead } from "./request-head.ts";
import { statusLine } from "./status-line.ts";

/** Two years, for this host alone: other hosts of the domain may have no certificate. */
const transportSecurity = "max-age=63072000";

/** @param isSecure whether the browser's connection is encrypted, as far as the server knows */
export function writeAnswerGuards(response: Pick<TransportResponse, "writeHeader">, isSecure: boolean): void {
  response.writeHeader("X-Content-Type-Options", "nosniff");
  if (isSecure) response.writeHeader("Strict-Transport-Security", transportSecurity);
}

const exposed =
  "Content-Range, ETag, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id";

interface AnswerContext {
  /** null if the request could not even be read */
  readonly head: RequestHead | null;
  /** "" if it was not requested. */
  readonly requestId: string;
  /** Whether the browser's connection is encrypted, as far as the server knows. */
  readonly isSecure: boolean;
}

export function writeAnswerHead(response: TransportResponse, reply: HttpReply, context: AnswerContext): void {
  const { head, requestId, isSecure } = context;
  // uWebSockets.js writes 200 by itself.
  if (reply.status !== 200) response.writeStatus(statusLine(reply.status));
  if (!hasNoBody(reply.status)) response.writeHeader("Content-Type", reply.contentType ?? "application/json");
  if (reply.rateLines !== undefined) response.writeHeader(rateHeader, reply.rateLines);
  if (requestId !== "") response.writeHeader("X-Request-Id", requestId);
  for (const [name, value] of reply.headers) {
    // A browser would ask its user for a password and reuse it for any page that makes it send requests here.
    if (name !== challenge[0] || !isOfBrowser(head)) response.writeHeader(name, value);
  }
  writeAnswerGuards(response, isSecure);
  // Pages of other origins must set the header with their credentials themselves: with "*" a browser hides answers to
  // requests that it added cookies to.
  if (head !== null && head.origin !== "") {
    response.writeHeader("Access-Control-Allow-Origin", "*");
    response.writeHeader("Access-Control-Expose-Headers", exposed);
  }
}

export function hasNoBody(status: number): boolean {
  return status === 204 || status === 304;
}

/** By plain HTTP, browsers send Fetch Metadata to localhost only. */
function isOfBrowser(head: RequestHead | null): boolean {
  return head !== null && (head.fetchSite !== "" || head.referer !== "" || head.origin !== "");
}

export type AnswerBody = string | Buffer | BodyParts;

/** The method that `write` calls after it has chosen an encoding in 0.3 us; the typings lack it. */
type Utf8Memory = Buffer & { utf8Write(text: string, at: number): number };

/** A UTF-16 code unit has at most three bytes in UTF-8. */
const memory = Buffer.allocUnsafeSlow(3 * limits.answer_small_bytes_max) as Utf8Memory;

/**
 * Encodes a small body in memory that all answers share: the result is valid until the next call.
 * @returns null if the body has more than `answer_small_bytes_max` bytes
 */
export function encodeSmall(body: AnswerBody): Buffer | null {
  if (Buffer.isBuffer(body)) return body.length <= limits.answer_small_bytes_max ? body : null;
  let size = 0;
  for (const part of isPieced(body) ? body : [body]) {
    if (size + part.length > limits.answer_small_bytes_max) return null;
    size = append(part, size);
  }
  return size <= limits.answer_small_bytes_max ? memory.subarray(0, size) : null;
}

/** @returns the new end */
function append(part: string | Buffer, at: number): number {
  if (typeof part === "string") return at + memory.utf8Write(part, at);
  memory.set(part, at);
  return at + part.length;
}

export class AnswerBytes {
  readonly size: number;
  readonly #parts: readonly (string | Buffer)[];
  /** The first piece that is not yet encoded. */
  #next = 0;
  /** The last encoded chunk, and its offset. */
  #gathered: Buffer = Buffer.alloc(0);
  #start = 0;

  constructor(body: AnswerBody) {
    this.#parts = isPieced(body) ? body : [body];
    this.size = bodySize(body);
  }

  /** Some of the bytes from `offset` on, which never decreases; null at the end. */
  from(offset: number): Buffer | null {
    while (offset >= this.#start + this.#gathered.length) {
      if (this.#next >= this.#parts.length) return null;
      this.#start += this.#gathered.length;
      this.#gathered = this.#gather();
    }
    return this.#gathered.subarray(offset - this.#start);
  }

  #gather(): Buffer {
    const gathered: Buffer[] = [];
    let size = 0;
    while (this.#next < this.#parts.length && size < limits.answer_piece_bytes_min) {
      const part = this.#parts[this.#next++] ?? "";
      const bytes = typeof part === "string" ? Buffer.from(part) : part;
      gathered.push(bytes);
      size += bytes.length;
    }
    const [only] = gathered;
    return gathered.length === 1 && only !== undefined ? only : Buffer.concat(gathered, size);
  }
}

export function bodySize(body: AnswerBody): number {
  if (!isPieced(body)) return sizeOf(body);
  let size = 0;
  for (const part of body) size += sizeOf(part);
  return size;
}

export function isPieced(body: AnswerBody): body is BodyParts {
  return Array.isArray(body);
}

export function bodyText(body: AnswerBody): string {
  return isPieced(body) ? body.join("") : String(body);
}

function sizeOf(part: string | Buffer): number {
  return typeof part === "string" ? Buffer.byteLength(part) : part.length;
}

export type Header = readonly [name: string, value: string];
type Headers = readonly Header[];

export interface HttpReply {
  readonly status: number;
  readonly body: AnswerBody;
  /** JSON by default. */
  readonly contentType?: string;
  readonly headers: Headers;
  /** The request limits that the answer shows, as the value of `rateHeader`. */
  readonly rateLines?: string | undefined;
  readonly closesConnection?: boolean;
  /** Streamed instead of the body, as fast as the client reads. */
  readonly file?: FileSlice;
}

/** A range of an open file. The sender closes it. */
export interface FileSlice {
  readonly start: number;
  readonly length: number;
  /** Returns at most `length` bytes, and fewer only at the end of the file. */
  read(position: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

export type Refused = HttpReply & { readonly body: string };

/** A rejection in the envelope, with the headers that its code requires (D1, D2). */
export function refused(refusal: Refusal, headers: Headers = none): Refused {
  const body = JSON.stringify(bodyOf(refusal));
  return { status: statusOf(refusal), body, headers: [...headers, ...headersOf(refusal)] };
}

/** Tells the client how to authenticate (D2). */
export const challenge: Header = ["WWW-Authenticate", 'Basic realm="colloquy"'];

/** Headers that a rejection needs, also one of a handshake. Retry-After is in whole seconds (D1). */
export function headersOf(refusal: Refusal): Headers {
  if (refusal.code === "UNAUTHORIZED") return [challenge];
  if (refusal.code === "OWNER_UNREACHABLE") return [["Retry-After", String(limits.forward_retry_s)]];
  if (refusal.code === "OVERLOADED") return [["Retry-After", String(limits.overloaded_retry_s)]];
  if (statusOf(refusal) !== 429) return none;
  return [["Retry-After", String(Math.ceil(Number(refusal.fields?.["retry-after"] ?? 1)))]];
}

/** The part of a request on which the form of an answer depends. */
export interface ReplyContext {
  readonly operation: Operation;
  readonly call: Call;
  /** The If-None-Match header, or "". */
  readonly ifNoneMatch: string;
}

/** Turns the result of an operation into status, headers and body. */
export function replyTo(result: Result, { operation, call, ifNoneMatch }: ReplyContext): HttpReply {
  const rateLines = call.rate === null ? undefined : rateLinesOf(call.rate);
  const isUnstored = call.isSession || operation.endpoint.setsCookies === true;
  const headers = call.isRejected ? challenged : isUnstored ? unstored : none;
  const body = jsonBody(result, call.ignored);
  if (result.kind === "refused") {
    return { status: statusOf(result), body, headers: [...headers, ...headersOf(result)], rateLines };
  }
  if (result.kind === "ok") {
    const { session } = result;
    if (session === undefined) return { status: 200, body, headers, rateLines };
    const cookie = sessionCookie(session, call.siteUrl.startsWith("https:"));
    return { status: 200, body, headers: [...headers, cookie], rateLines };
  }
  const caching = isUnstored ? none : revalidated;
  if (result.kind === "redirect") {
    const location: Header = ["Location", result.location];
    return { status: 302, body, headers: [...headers, location, ...caching], rateLines };
  }
  if (result.etag === undefined) return { status: 200, body, headers, rateLines };
  const tagged: Headers = [...headers, ["ETag", result.etag], ...caching];
  // Ignored parameters belong to the request and not to the content, so such an answer is always sent in full.
  const isKnown = call.ignored.length === 0 && names(ifNoneMatch, result.etag);
  if (isKnown) return { status: 304, body: "", headers: [...tagged, varies], rateLines };
  return { status: 200, body, headers: tagged, rateLines };
}

/** The first of the headers that tell a client its limits (behaviour 1.7); its value contains the others. */
export const rateHeader = "X-RateLimit-Limit";

/** The lines of all of them as one value, because a call into the transport costs more than the text. */
function rateLinesOf({ limit, remaining, resetAtMs }: CallRate): string {
  return `${limit}\r\nX-RateLimit-Remaining: ${remaining}\r\nX-RateLimit-Reset: ${Math.ceil(resetAtMs / 1000)}`;
}

/** The start of a successful answer whose other fields are already JSON. */
const emptyEnvelope = '{"result":"success","msg":""';
const envelope = `${emptyEnvelope},`;
const envelopeBytes = Buffer.from(envelope);
const endBytes = Buffer.from("}");

/** @param ignored the names of parameters that the operation does not declare; they become the last field */
export function jsonBody(result: Result, ignored: readonly string[]): AnswerBody {
  if (result.kind === "refused") return JSON.stringify(bodyOf(result));
  const rest = ignored.length > 0 ? `,"ignored_parameters_unsupported":${JSON.stringify(ignored)}` : "";
  switch (result.kind) {
    case "ok": {
      // The envelope is text: copying the fields into another object would cost more than encoding them.
      const fields = JSON.stringify(result.answer).slice(1, -1);
      return fields === "" ? `${emptyEnvelope}${rest}}` : `${envelope}${fields}${rest}}`;
    }
    case "redirect":
      return `${emptyEnvelope}${rest}}`;
    case "encoded": {
      const { fields } = result;
      if (!isPieced(fields)) return `${envelope}${fields}${rest}}`;
      return [envelopeBytes, ...fields, rest === "" ? endBytes : `${rest}}`];
    }
    case "whole":
      return rest === "" ? result.body : Buffer.concat([result.body.subarray(0, -1), Buffer.from(`${rest}}`)]);
    default:
      return result satisfies never;
  }
}

const none = [] as const;
const challenged: Headers = [challenge];

/** The answer depends on the request's Accept-Encoding. */
export const varies: Header = ["Vary", "Accept-Encoding"];

/**
 * An Authorization header forbids shared caches to keep the answer, and a cookie does not. A browser that was logged out
 * must not show the answer either (D277).
 */
const unstored: Headers = [["Cache-Control", "private, no-store"]];

/** Answers differ by caller: a client may cache them, but must revalidate each time. */
const revalidated: Headers = [["Cache-Control", "private, no-cache"]];

/** Whether the list of an If-None-Match header contains the tag (RFC 9110, weak comparison). */
function names(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === "") return false;
  return ifNoneMatch.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
}
