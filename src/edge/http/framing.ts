/**
 * Checks the head of a request before its body is read (RFC 9112, 6). A proxy in front may interpret an ambiguous head
 * differently, and one side's body would be the other side's request. uWebSockets.js accepts the first of two
 * Content-Length headers, an empty one, and every Transfer-Encoding.
 */

/** The headers that decide where the body ends. null means absent, which differs from empty. */
export interface BodyHeaders {
  readonly contentLength: string | null;
  readonly transferEncoding: string | null;
  /** A header that may appear once but was repeated. */
  readonly repeated: string | null;
}

/** @returns the fault in words, or null */
export function framingFault({ contentLength, transferEncoding, repeated }: BodyHeaders): string | null {
  if (repeated !== null) return `More than one ${repeated} header`;
  if (contentLength !== null && !/^\d{1,15}$/.test(contentLength)) return "Malformed Content-Length header";
  if (transferEncoding === null) return null;
  if (contentLength !== null) return "Both Content-Length and Transfer-Encoding headers";
  return transferEncoding.toLowerCase() === "chunked" ? null : "Transfer-Encoding must be chunked";
}
