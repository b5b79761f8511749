/** The errors of the client, as classes that callers tell apart with `instanceof`. */
import type { ErrorCode, ErrorCodes } from "./api/index.ts";

/** The server rejected the request. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** HTTP status; a frame's error has that of its code. */
  readonly status: number;
  /** A code of this server, or an unknown one. */
  readonly code: ErrorCode | (string & Record<never, never>);
  /** The whole answer; some codes have further fields. */
  readonly answer: Readonly<Record<string, unknown>>;
  /** Milliseconds after which the server invites a repetition; 0 if it does not say. */
  readonly retryAfterMs: number;

  constructor(what: string, status: number, answer: Readonly<Record<string, unknown>>, retryAfter: string | null) {
    const code = typeof answer["code"] === "string" ? answer["code"] : "BAD_REQUEST";
    super(`${what}: ${String(answer["msg"] ?? "no message")} (${code})`);
    this.status = status;
    this.code = code;
    this.answer = answer;
    this.retryAfterMs = 1000 * Math.max(0, Number(answer["retry-after"] ?? retryAfter ?? 0) || 0);
  }
}

type OtherStatus = { readonly [C in ErrorCode as ErrorCodes[C] extends 400 ? never : C]: ErrorCodes[C] };

/** Frames have no status. Codes that are not here have 400. */
const statuses: OtherStatus = {
  UNAUTHORIZED: 401,
  INVALID_API_KEY: 401,
  AUTHENTICATION_FAILED: 401,
  USER_DEACTIVATED: 401,
  CSRF_FAILED: 403,
  REALM_DEACTIVATED: 401,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  PAYLOAD_TOO_LARGE: 413,
  CHANNEL_ALREADY_EXISTS: 409,
  RATE_LIMIT_HIT: 429,
  STORE_REFUSES_WRITES: 503,
  SERVER_SHUTTING_DOWN: 503,
  OVERLOADED: 503,
  OWNER_UNREACHABLE: 503,
  INTERNAL_SERVER_ERROR: 500,
};

/** @param frame an error reply */
export function errorOfFrame(what: string, frame: Readonly<Record<string, unknown>>): ApiError {
  const status = (statuses as Readonly<Record<string, number>>)[String(frame["code"])] ?? 400;
  return new ApiError(what, status, frame, null);
}

/**
 * No answer arrived: the network or the server is down. Whether a request was executed is unknown. A repetition under
 * the same idempotency key executes it once.
 */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  /** Null for requests that need no key. */
  readonly idempotencyKey: string | null;
  /** HTTP status if something other than the API answered, such as a proxy; else 0. */
  readonly status: number;

  constructor(message: string, options: { cause?: unknown; status?: number; idempotencyKey?: string | null } = {}) {
    super(message, { cause: options.cause });
    this.status = options.status ?? 0;
    this.idempotencyKey = options.idempotencyKey ?? null;
  }
}

/** The server closed the socket with a code after which a new attempt is useless. */
export class SocketClosedError extends Error {
  override readonly name = "SocketClosedError";
  /** See docs/realtime.md, Close codes. */
  readonly code: number;

  constructor(code: number, reason: string) {
    super(`the server closed the socket: ${reason || "no reason"} (${code})`);
    this.code = code;
  }
}

/** Events were lost, and the caller has no `onGap`. */
export class EventGapError extends Error {
  override readonly name = "EventGapError";
  readonly lastEventId: number;

  constructor(lastEventId: number) {
    super(
      `the event queue is gone: events after ${lastEventId} are lost; handle \`onGap\` to continue with a new queue`,
    );
    this.lastEventId = lastEventId;
  }
}
