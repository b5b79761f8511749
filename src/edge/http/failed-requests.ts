/**
 * Requests that were answered with 500: each answer has an id, and a line of the log names it, so that a user's report
 * leads to the fault. The fault itself is logged once, just before. Of many in a second, some are named and the others
 * counted: the same damage may fail every request.
 */
import { randomUUID } from "node:crypto";
import { limits } from "../../../schemas/limits.ts";
import type { AccessLog, AccessRecord } from "./access-log.ts";
import type { RequestHead } from "./request-head.ts";

export interface FailedRequest {
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
