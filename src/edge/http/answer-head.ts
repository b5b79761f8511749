/** The status line and the headers of an answer. */

import { writeAnswerGuards } from "../transport/answer-guards.ts";
import type { TransportResponse } from "../transport/transport.ts";
import { challenge, type HttpReply, rateHeader } from "./reply.ts";
import type { RequestHead } from "./request-head.ts";
import { statusLine } from "./status-line.ts";

const exposed =
  "Content-Range, ETag, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id";

export interface AnswerContext {
  /** null if the request could not even be read */
  readonly head: RequestHead | null;
  /** "" if nobody asked for one. */
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
