/** What is copied out of a uWS request while it lives: after the callback it must not be touched (pitfalls 2.2). */
import type { HttpRequest } from "uWebSockets.js";
import type { Forwarded, ReadForwarded } from "../runtime/forwarded.ts";

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
  readonly forwarded: Forwarded;
  readonly hasBody: boolean;
  /** What the head says; null when it does not. */
  readonly contentLength: number | null;
}

export function readIncoming(request: HttpRequest, readForwarded: ReadForwarded): Incoming {
  const method = request.getMethod().toUpperCase();
  const length = request.getHeader("content-length");
  return {
    method,
    path: request.getUrl(),
    // Without "?" uWS gives undefined, whatever its types say.
    query: (request.getQuery() as string | undefined) ?? "",
    host: request.getHeader("host"),
    authorization: request.getHeader("authorization"),
    contentType: request.getHeader("content-type"),
    userAgent: request.getHeader("user-agent"),
    origin: request.getHeader("origin"),
    idempotencyKey: request.getHeader("idempotency-key") || null,
    ifNoneMatch: request.getHeader("if-none-match"),
    forwarded: readForwarded((name) => request.getHeader(name)),
    hasBody: (length !== "" && length !== "0") || request.getHeader("transfer-encoding") !== "",
    contentLength: /^\d{1,15}$/.test(length) ? Number(length) : null,
  };
}
