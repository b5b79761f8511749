/** The next step when a socket ends, by its close code (docs/realtime.md, Close codes). */

/**
 * - `resume`: connect again and continue after the last event
 * - `wait`: the same after a long pause
 * - `register`: the queue is gone, so events may be lost; continue with a new queue
 * - `stop`: another attempt would end in the same way
 */
export type NextStep = "resume" | "wait" | "register" | "stop";

export const closeCodes: Readonly<Record<number, NextStep>> = {
  /** The server is going away. */
  1001: "resume",
  /** No close frame: the network, a killed server, or the hard bound of the server's buffer. */
  1006: "resume",
  /** A frame of this client was too large. */
  1009: "stop",
  /** A frame of this client was malformed. */
  4400: "stop",
  /** Wrong address or key. */
  4401: "stop",
  /** The account or the organization is deactivated. */
  4403: "stop",
  /** The first frame came too late. */
  4408: "resume",
  /** A newer connection reads the queue. */
  4409: "stop",
  4410: "register",
  /** Over the request limit. */
  4429: "wait",
  /** This client read too slowly. */
  4508: "resume",
};

/** Codes of proxies and of later servers are taken for an interruption. */
export function stepAfterClose(code: number): NextStep {
  return closeCodes[code] ?? "resume";
}

/** The same for the code of an error reply or an answer. */
const errorCodes: Readonly<Record<string, NextStep>> = {
  BAD_EVENT_QUEUE_ID: "register",
  RATE_LIMIT_HIT: "wait",
  OVERLOADED: "resume",
  OWNER_UNREACHABLE: "resume",
  SERVER_SHUTTING_DOWN: "resume",
  STORE_REFUSES_WRITES: "resume",
  INTERNAL_SERVER_ERROR: "resume",
};

export function stepAfterError(code: string): NextStep {
  return errorCodes[code] ?? "stop";
}
