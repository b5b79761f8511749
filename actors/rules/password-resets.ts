/** The links that set a user's password (D257). At most one of them is valid. */

import type { View } from "../../domain/view.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import { type Effect, effects } from "../protocol/decision.ts";

/** The links of the last day that were sent, newest first. */
export function resetRequestsOf(view: View, userId: UserId) {
  const newest = { start: [userId, Number.MAX_SAFE_INTEGER], end: [userId], reverse: true };
  return view.keys("passwordResetRequests", { ...newest, limit: limits.password_resets_per_day_max });
}

/** Revokes the user's links. Those that were sent still count toward the limits. */
export function revokeResets(view: View, userId: UserId): Effect[] {
  const sent = resetRequestsOf(view, userId).map(([, , hash]) => effects.remove("passwordResets", hash));
  const ofOperator = view.row("operatorResets", userId);
  if (ofOperator === undefined) return sent;
  return [...sent, effects.remove("passwordResets", ofOperator.keyHash), effects.remove("operatorResets", userId)];
}
