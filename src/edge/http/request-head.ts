/**
 * Copies what is needed from a transport's request during its callback; afterwards the request must not be touched
 * (pitfalls 2.2).
 *
 * Checks the head of a request before its body is read (RFC 9112, 6). A proxy in front may interpret an ambiguous head
 * differently, and one side's body would be the other side's request. uWebSockets.js accepts the first of two
 * Content-Length headers, an empty one, and every Transfer-Encoding.
 */
import { limits } from "../../../schemas/limits.ts";
import type { TransportRequest } from "../transport/transport.ts";
import type { Forwarded, ReadForwarded } from "./forwarded.ts";

/** The headers that decide where the body ends. null means absent, which differs from empty. */
interface BodyHeaders {
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

export const apiPrefix = "/api/v1";

/** Headers that are irrelevant to the method are reported as absent. */
export interface RequestHead {
  /** Upper case. */
  readonly method: string;
  /** Percent-encoded. */
  readonly path: string;
  readonly query: string;
  readonly host: string;
  readonly authorization: string;
  readonly cookie: string;
  readonly contentType: string;
  readonly userAgent: string;
  readonly origin: string;
  readonly referer: string;
  /** null if the header is absent or empty. */
  readonly idempotencyHeader: string | null;
  readonly ifNoneMatch: string;
  readonly range: string;
  readonly ifRange: string;
  readonly acceptEncoding: string;
  /** The id that the client chose for the request; "" usually. */
  readonly requestId: string;
  readonly forwarded: Forwarded;
  readonly hasBody: boolean;
  /** The body uses chunked transfer encoding. */
  readonly isChunked: boolean;
  /** The Content-Length, or null without one. */
  readonly contentLength: number | null;
  /** Why the end of the body is ambiguous, or null. */
  readonly framingFault: string | null;
  /** Fetch Metadata that browsers send about the requesting page; "" from other clients. */
  readonly fetchSite: string;
  readonly fetchMode: string;
  /** See `PageHeaders`. */
  readonly isCredentialed: boolean;
}

/** The raw headers; null where an absent header differs from an empty one. */
class Head {
  contentLength: string | null = null;
  transferEncoding: string | null = null;
  repeated: string | null = null;
  host: string | null = null;
  authorization: string | null = null;
  cookie = "";
  contentType = "";
  userAgent = "";
  origin = "";
  referer = "";
  idempotencyHeader = "";
  ifNoneMatch = "";
  range = "";
  ifRange = "";
  acceptEncoding = "";
  requestId = "";
  fetchSite = "";
  fetchMode = "";
  isCredentialed = false;

  take(name: string, value: string): void {
    switch (name) {
      case "content-length":
        this.contentLength = this.#once(name, this.contentLength, value);
        break;
      case "transfer-encoding":
        this.transferEncoding = this.#once(name, this.transferEncoding, value);
        break;
      case "host":
        this.host = this.#once(name, this.host, value);
        break;
      case "authorization":
        this.authorization = this.#once(name, this.authorization, value);
        break;
      case "content-type":
        this.contentType ||= value;
        break;
      case "user-agent":
        this.userAgent ||= value;
        break;
      case "origin":
        this.origin ||= value;
        break;
      case "referer":
        this.referer ||= value;
        break;
      case "idempotency-key":
        this.idempotencyHeader ||= value;
        break;
      case "if-none-match":
        this.ifNoneMatch ||= value;
        break;
      case "range":
        this.range ||= value;
        break;
      case "if-range":
        this.ifRange ||= value;
        break;
      case "accept-encoding":
        this.acceptEncoding ||= value;
        break;
      case "x-request-id":
        this.requestId ||= value;
        break;
      case "sec-fetch-site":
        this.fetchSite ||= value;
        break;
      case "sec-fetch-mode":
        this.fetchMode ||= value;
        break;
      case "cookie":
        this.cookie ||= value;
        this.isCredentialed = true;
        break;
      case "sec-fetch-storage-access":
        this.isCredentialed = true;
        break;
    }
  }

  #once(name: string, former: string | null, value: string): string {
    if (former === null) return value;
    this.repeated = name;
    return former;
  }
}

/** One pass over all headers, because only that distinguishes repeated, empty and absent headers. */
export function readRequestHead(request: TransportRequest, readForwarded: ReadForwarded): RequestHead {
  const method = request.getMethod().toUpperCase();
  const path = request.getUrl();
  const head = new Head();
  request.forEach((name, value) => {
    head.take(name, value);
  });
  const { contentLength, transferEncoding } = head;
  const hasBody = (contentLength !== null && contentLength !== "0") || transferEncoding !== null;
  const isRead = method === "GET" || method === "HEAD";
  const mayBePart = isRead && !path.startsWith(`${apiPrefix}/`);
  return {
    method,
    path,
    query: request.getQuery() ?? "",
    host: head.host ?? "",
    authorization: head.authorization ?? "",
    cookie: head.cookie,
    contentType: hasBody ? head.contentType : "",
    userAgent: head.userAgent,
    origin: head.origin,
    referer: head.referer,
    idempotencyHeader: isRead ? null : head.idempotencyHeader || null,
    ifNoneMatch: isRead ? head.ifNoneMatch : "",
    range: mayBePart ? head.range : "",
    ifRange: mayBePart ? head.ifRange : "",
    acceptEncoding: head.acceptEncoding,
    requestId: head.requestId,
    forwarded: readForwarded(request),
    hasBody,
    isChunked: transferEncoding !== null,
    contentLength: contentLength === null ? null : Number(contentLength),
    framingFault: framingFault(head) ?? hostFault(head.host),
    fetchSite: head.fetchSite,
    fetchMode: head.fetchMode,
    isCredentialed: head.isCredentialed,
  };
}

/** Sessions, queues and scheduled messages keep the host, so an absurd one is rejected before anything sees it (S3). */
function hostFault(host: string | null): string | null {
  return (host ?? "").length > limits.host_header_bytes_max ? "The Host header is too long" : null;
}
