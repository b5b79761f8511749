/** The head of a request as another node gets it: what belongs to the client's connection is left out. */
import { limits } from "../../../schemas/limits.ts";
import { framingFault } from "../http/request-head.ts";
import type { TransportRequest } from "../transport/transport.ts";
import { nodeHeader } from "./node-header.ts";

/** Headers that concern one connection (RFC 9110, 7.6.1), or that each node writes anew. */
const ofConnection: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-forwarded-for",
  "x-forwarded-proto",
  nodeHeader,
]);

export interface ForwardedHead {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly host: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly hasBody: boolean;
  /** Null: it is sent in chunks, or there is none. */
  readonly contentLength: number | null;
  /** Sending it twice has the same effect as once. */
  readonly isRepeatable: boolean;
}

/** @returns null if the head is ambiguous or too long, so that no other node must see it */
export function readForwardedHead(request: TransportRequest): ForwardedHead | null {
  const method = request.getMethod().toUpperCase();
  const headers: string[] = [];
  const body = { contentLength: null as string | null, transferEncoding: null as string | null };
  let repeated: string | null = null;
  let bytes = 0;
  const seen = new Set<string>();
  request.forEach((name, value) => {
    if (seen.has(name) && single.has(name)) repeated = name;
    seen.add(name);
    if (name === "content-length") body.contentLength = value;
    if (name === "transfer-encoding") body.transferEncoding = value;
    if (!ofConnection.has(name)) headers.push(name, value);
    bytes += name.length + value.length;
  });
  const { contentLength, transferEncoding } = body;
  if (framingFault({ ...body, repeated }) !== null || bytes > limits.forward_head_bytes_max) return null;
  const query = request.getQuery() ?? "";
  const isRead = method === "GET" || method === "HEAD" || method === "OPTIONS";
  return {
    method,
    path: query === "" ? request.getUrl() : `${request.getUrl()}?${query}`,
    host: request.getHeader("host"),
    headers,
    hasBody: (contentLength !== null && contentLength !== "0") || transferEncoding !== null,
    contentLength: contentLength === null ? null : Number(contentLength),
    isRepeatable: isRead || request.getHeader("idempotency-key") !== "",
  };
}

const single: ReadonlySet<string> = new Set(["content-length", "transfer-encoding", "host", "authorization"]);
