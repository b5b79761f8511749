/**
 * What a request's head says of its body, checked before the body is believed (RFC 9112, 6): a proxy in front may read an ambiguous
 * head otherwise, and what one takes for a body the other would take for a request. uWebSockets.js takes the first of two
 * Content-Length headers, an empty one, and every Transfer-Encoding.
 */

/** What of a head decides where its body ends. null: absent, which is not the same as empty. */
export interface BodyHeaders {
  readonly contentLength: string | null;
  readonly transferEncoding: string | null;
  /** A header that may come once and came again. */
  readonly repeated: string | null;
}

/** @returns what is wrong, in words; null: nothing */
export function framingFault({ contentLength, transferEncoding, repeated }: BodyHeaders): string | null {
  if (repeated !== null) return `More than one ${repeated} header`;
  if (contentLength !== null && !/^\d{1,15}$/.test(contentLength)) return "Malformed Content-Length header";
  if (transferEncoding === null) return null;
  if (contentLength !== null) return "Both Content-Length and Transfer-Encoding headers";
  return transferEncoding.toLowerCase() === "chunked" ? null : "Transfer-Encoding must be chunked";
}
