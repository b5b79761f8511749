/**
 * Why a socket is closed and what its client should do next (docs/realtime.md). The reason text says the same in words.
 */
import type { ErrorCode, Refusal } from "./errors.ts";

export const closeCodes = {
  malformed: { code: 4400, reason: "malformed: fix the client" },
  notAuthenticated: { code: 4401, reason: "not authenticated: do not retry with these credentials" },
  deactivated: { code: 4403, reason: "account or organization deactivated: do not retry" },
  firstFrameLate: { code: 4408, reason: "no authentication in time: reconnect and authenticate first" },
  takenOver: { code: 4409, reason: "queue taken over by a newer connection" },
  queueGone: { code: 4410, reason: "queue gone: register again" },
  rateLimited: { code: 4429, reason: "rate limited: retry later" },
  slowReader: { code: 4508, reason: "slow reader: reconnect and resume" },
  goingAway: { code: 1001, reason: "server going away: reconnect and resume" },
  frameTooLarge: { code: 1009, reason: "frame too large" },
} as const;
export type CloseCause = keyof typeof closeCodes;

/** Rejected credentials that tell the client more than that they are wrong. */
const causes: Readonly<Partial<Record<ErrorCode, CloseCause>>> = {
  USER_DEACTIVATED: "deactivated",
  REALM_DEACTIVATED: "deactivated",
  RATE_LIMIT_HIT: "rateLimited",
};

/** @param refusal why the credentials were rejected: it decides whether the client reconnects */
export function closeCauseOf({ code }: Refusal): CloseCause {
  return causes[code] ?? "notAuthenticated";
}
