/** What is copied out of a uWS request while it lives: after the callback it must not be touched (pitfalls 2.2). */
import type { HttpRequest } from "uWebSockets.js";
import type { Forwarded, ReadForwarded } from "../runtime/forwarded.ts";

export const apiPrefix = "/api/v1";

/** Of headers that say nothing for a kind of request: as if they were absent. */
export interface Incoming {
  /** Upper case. */
  readonly method: string;
  /** Percent-encoded. */
  readonly path: string;
  readonly query: string;
  readonly host: string;
  readonly authorization: string;
  readonly contentType: string;
  readonly userAgent: string;
  readonly origin: string;
  /** null when the header is absent or empty. */
  readonly idempotencyKey: string | null;
  readonly ifNoneMatch: string;
  readonly range: string;
  readonly ifRange: string;
  readonly forwarded: Forwarded;
  readonly hasBody: boolean;
  /** What the head says; null when it does not. */
  readonly contentLength: number | null;
}

/** Each header is a call out of JavaScript (0.1 us): what cannot matter is not read. */
export function readIncoming(request: HttpRequest, readForwarded: ReadForwarded): Incoming {
  const method = request.getMethod().toUpperCase();
  const path = request.getUrl();
  const length = request.getHeader("content-length");
  const hasBody = (length !== "" && length !== "0") || request.getHeader("transfer-encoding") !== "";
  const isRead = method === "GET" || method === "HEAD";
  const mayBePart = isRead && !path.startsWith(`${apiPrefix}/`);
  return {
    method,
    path,
    // Without "?" uWS gives undefined, whatever its types say.
    query: (request.getQuery() as string | undefined) ?? "",
    host: request.getHeader("host"),
    authorization: request.getHeader("authorization"),
    contentType: hasBody ? request.getHeader("content-type") : "",
    userAgent: request.getHeader("user-agent"),
    origin: request.getHeader("origin"),
    idempotencyKey: isRead ? null : request.getHeader("idempotency-key") || null,
    ifNoneMatch: isRead ? request.getHeader("if-none-match") : "",
    range: mayBePart ? request.getHeader("range") : "",
    ifRange: mayBePart ? request.getHeader("if-range") : "",
    forwarded: readForwarded((name) => request.getHeader(name)),
    hasBody,
    contentLength: /^\d{1,15}$/.test(length) ? Number(length) : null,
  };
}
