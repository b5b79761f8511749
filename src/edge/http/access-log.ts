/**
 * The access log, and request ids. A request is recorded only if the log is on or the client sent an id, so that other
 * requests pay nothing. A line has the pattern of a path and neither ids nor names in it: links of invitations and
 * confirmations are keys (S2).
 */
import { randomUUID } from "node:crypto";
import { limits } from "../../../schemas/limits.ts";
import { clientNetwork } from "../../runtime/client-network.ts";
import type { PageRoute } from "./pages.ts";
import { apiPrefix, type RequestHead } from "./request-head.ts";

interface FailedRequest {
  readonly id: string;
  readonly method: string;
  /** The pattern of the path, as in the access log. */
  readonly path: string;
  /** Requests that failed since the line before and are not named. */
  readonly unnamed?: number;
}

export interface FailedRequestsOptions {
  readonly accessLog: Pick<AccessLog, "shownId" | "shownMethod" | "shownPath">;
  readonly monotonic: () => number;
  readonly write: (line: FailedRequest) => void;
}

/**
 * Requests that were answered with 500: each answer has an id, and a line of the log names it, so that a user's report
 * leads to the fault. The fault itself is logged once, just before. If many occur in a second, some are named and the
 * others counted: the same damage may fail every request.
 */
export class FailedRequests {
  readonly #options: FailedRequestsOptions;
  #secondEndsAt = 0;
  #named = 0;
  #unnamed = 0;

  constructor(options: FailedRequestsOptions) {
    this.#options = options;
  }

  /** @returns the id of the request */
  note(head: RequestHead | null, record: AccessRecord | null): string {
    const { accessLog, monotonic, write } = this.#options;
    const id = record?.id ?? (head === null ? randomUUID() : accessLog.shownId(head.requestId));
    const now = monotonic();
    if (now >= this.#secondEndsAt) {
      this.#secondEndsAt = now + 1000;
      this.#named = 0;
    }
    if (this.#named >= limits.failed_requests_named_per_second_max) {
      this.#unnamed++;
      return id;
    }
    this.#named++;
    const unnamed = this.#unnamed;
    this.#unnamed = 0;
    const [method, path] =
      head === null ? ["(other)", "(unknown)"] : [accessLog.shownMethod(head), accessLog.shownPath(head)];
    write({ id, method, path, ...(unnamed === 0 ? {} : { unnamed }) });
    return id;
  }
}

export const addressDetails = ["full", "network", "none"] as const;
export type AddressDetail = (typeof addressDetails)[number];

export interface AccessLine {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** Absent if the client left before the answer. */
  readonly status?: number;
  readonly ms: number;
  /** Size of the answer's body as it is sent, compressed or not; if the client left, less was sent. */
  readonly bytes: number;
  readonly isAborted?: true;
  readonly address?: string;
}

/** The handshake of a WebSocket. */
export interface Handshake {
  readonly path: string;
  readonly status: number;
  readonly address: string;
  readonly requestId: string;
}

export interface AccessLogOptions {
  /** null: only request ids are sent back. */
  readonly write: ((line: AccessLine) => void) | null;
  readonly addresses: AddressDetail;
  /** The declared path of an operation, below the prefix of the API; null if there is none. */
  readonly operationPath: (method: string, path: string) => string | null;
  readonly pages: readonly PageRoute[];
  readonly monotonic: () => number;
}

/** The ids that clients may choose: an id is repeated in an answer's header and in the log. */
const idShape = /^[\w.:=/+-]{1,128}$/;
const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
const ipv4BytesShown = 3;

export class AccessLog {
  readonly #options: AccessLogOptions;

  constructor(options: AccessLogOptions) {
    this.#options = options;
  }

  get isOn(): boolean {
    return this.#options.write !== null;
  }

  /** @param address is read at once, because later the connection may be gone */
  record(head: RequestHead, address: () => string): AccessRecord {
    const { write } = this.#options;
    const id = this.shownId(head.requestId);
    if (write === null) return new AccessRecord(id, () => undefined);
    const shown = this.#shown(address);
    const startedAt = this.#options.monotonic();
    return new AccessRecord(id, ({ status, bytes, isAborted }) => {
      write({
        id,
        method: this.shownMethod(head),
        path: this.shownPath(head),
        ...(status === null ? {} : { status }),
        ms: Math.round((this.#options.monotonic() - startedAt) * 10) / 10,
        bytes,
        ...(isAborted ? { isAborted } : {}),
        ...shown,
      });
    });
  }

  /** A WebSocket is one line, when it opens or is refused. Its frames are no requests. */
  handshake({ path, status, address, requestId }: Handshake): void {
    const id = this.shownId(requestId);
    this.#options.write?.({ id, method: "GET", path, status, ms: 0, bytes: 0, ...this.#shown(() => address) });
  }

  #shown(address: () => string): { readonly address?: string } {
    const { addresses } = this.#options;
    if (addresses === "none") return {};
    if (addresses === "full") return { address: address() };
    const network = clientNetwork(address());
    const isIpv4 = /^\d+(?:\.\d+){3}$/.test(network);
    return { address: isIpv4 ? `${network.split(".").slice(0, ipv4BytesShown).join(".")}.0/24` : network };
  }

  /** The client's own id of a request, or a new one. */
  shownId(requestId: string): string {
    return idShape.test(requestId) ? requestId : randomUUID();
  }

  shownMethod({ method }: Pick<RequestHead, "method">): string {
    return methods.has(method) ? method : "(other)";
  }

  /** The pattern of a path: neither ids nor names. */
  shownPath({ method, path }: Pick<RequestHead, "method" | "path">): string {
    const known = path.startsWith(`${apiPrefix}/`)
      ? this.#options.operationPath(method, path.slice(apiPrefix.length))
      : null;
    if (known !== null) return `${apiPrefix}${known}`;
    const page = this.#options.pages.find(({ prefix }) => (prefix === "/" ? path === prefix : path.startsWith(prefix)));
    if (page === undefined) return "(unknown)";
    return page.prefix.endsWith("/") && page.prefix !== "/" ? `${page.prefix}*` : page.prefix;
  }
}

interface Outcome {
  readonly status: number | null;
  readonly bytes: number;
  readonly isAborted: boolean;
}

/** One request, from its head to the end of its answer. */
export class AccessRecord {
  readonly id: string;
  readonly #write: (outcome: Outcome) => void;
  #status: number | null = null;
  #bytes = 0;
  #isAborted = false;

  constructor(id: string, write: (outcome: Outcome) => void) {
    this.id = id;
    this.#write = write;
  }

  answered(status: number, bytes: number): void {
    this.#status = status;
    this.#bytes = bytes;
  }

  aborted(): void {
    this.#isAborted = true;
  }

  ended(): void {
    this.#write({ status: this.#status, bytes: this.#bytes, isAborted: this.#isAborted });
  }
}
