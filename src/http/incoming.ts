/** What is copied out of a uWS request while it lives: after the callback it must not be touched (pitfalls 2.2). */
import type { HttpRequest } from "uWebSockets.js";
import type { Forwarded, ReadForwarded } from "../runtime/forwarded.ts";
import { framingFault } from "./framing.ts";

export const apiPrefix = "/api/v1";

/** Headers that are irrelevant to the method are reported as absent. */
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
  /** The body comes in chunks. */
  readonly isChunked: boolean;
  /** What the head says; null when it does not. */
  readonly contentLength: number | null;
  /** Why its body cannot be told from what follows it; null: it can. */
  readonly framingFault: string | null;
  /** What a browser says of the page that asks (Fetch Metadata); "" from anything else. */
  readonly fetchSite: string;
  readonly fetchMode: string;
  /** See `PageHeaders`. */
  readonly isCredentialed: boolean;
}

/** The headers that are read, as they came; `null` where it matters that one was not there. */
class Head {
  contentLength: string | null = null;
  transferEncoding: string | null = null;
  repeated: string | null = null;
  host: string | null = null;
  authorization: string | null = null;
  contentType = "";
  userAgent = "";
  origin = "";
  idempotencyKey = "";
  ifNoneMatch = "";
  range = "";
  ifRange = "";
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
      case "idempotency-key":
        this.idempotencyKey ||= value;
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
      case "sec-fetch-site":
        this.fetchSite ||= value;
        break;
      case "sec-fetch-mode":
        this.fetchMode ||= value;
        break;
      case "sec-fetch-storage-access":
      case "cookie":
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

/** One pass over all headers: only so can two of a name, and an empty one, be told from none. */
export function readIncoming(request: HttpRequest, readForwarded: ReadForwarded): Incoming {
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
    // Without "?" uWS gives undefined, whatever its types say.
    query: (request.getQuery() as string | undefined) ?? "",
    host: head.host ?? "",
    authorization: head.authorization ?? "",
    contentType: hasBody ? head.contentType : "",
    userAgent: head.userAgent,
    origin: head.origin,
    idempotencyKey: isRead ? null : head.idempotencyKey || null,
    ifNoneMatch: isRead ? head.ifNoneMatch : "",
    range: mayBePart ? head.range : "",
    ifRange: mayBePart ? head.ifRange : "",
    forwarded: readForwarded((name) => request.getHeader(name)),
    hasBody,
    isChunked: transferEncoding !== null,
    contentLength: contentLength === null ? null : Number(contentLength),
    framingFault: framingFault(head),
    fetchSite: head.fetchSite,
    fetchMode: head.fetchMode,
    isCredentialed: head.isCredentialed,
  };
}
