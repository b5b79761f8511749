/** The links of a user's requests to change the email address (spec 4.1 rule 2). At most one of them is valid. */

import type { View } from "../../domain/view.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import { type Effect, effects } from "../protocol/decision.ts";

/** The user's requests of the last day, newest first. */
export function requestsOf(view: View, userId: UserId) {
  const newest = { start: [userId, Number.MAX_SAFE_INTEGER], end: [userId], reverse: true };
  return view.keys("emailChangeRequests", { ...newest, limit: limits.email_changes_per_day_max });
}

/** Revokes all links that the user requested. The requests still count toward the limit. */
export function revokeLinks(view: View, userId: UserId): Effect[] {
  return revoke(requestsOf(view, userId).map(([, , hash]) => hash));
}

export function revoke(hashes: readonly string[]): Effect[] {
  return hashes.map((hash) => effects.remove("emailChanges", hash));
}
