/** The links that set a user's password (D257). At most one of them is valid. */
import { limits } from "../../schemas/limits.ts";
import type { View } from "../../src/domain/view.ts";
import { type Effect, effects } from "../protocol/effects.ts";

/** The links of the last day, newest first. */
export function resetRequestsOf(view: View, userId: number) {
  const newest = { start: [userId, Number.MAX_SAFE_INTEGER], end: [userId], reverse: true };
  return view.keys("passwordResetRequests", { ...newest, limit: limits.password_resets_per_day_max });
}

/** Revokes the user's link. It still counts toward the limits. */
export function revokeResets(view: View, userId: number): Effect[] {
  return resetRequestsOf(view, userId).map(([, , hash]) => effects.remove("passwordResets", hash));
}
