/** Reads statuses (spec 2.7; OpenAPI get-user-status and register). Values that are not set are absent. */

import type { ExtraType } from "../../domain/emoji/extra-type.ts";
import { canAccessUser } from "../../domain/people.ts";
import { type StatusBody, statusBody } from "../../domain/status.ts";
import type { View } from "../../domain/view.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Section } from "./state-section.ts";

/**
 * One user's status for a viewer (behaviour 2.11). Bots have none; users the viewer may not see are treated as
 * nonexistent.
 */
export function readStatus(
  view: View,
  viewer: UserRecord,
  userId: number,
  extraType: ExtraType,
): { readonly kind: "ok"; readonly answer: { readonly status: StatusBody } } | Refusal {
  const user = view.users.get(userId);
  if (user === undefined || user.botType !== null || !canAccessUser(view, viewer, user)) return refuse.noSuchUser();
  if (!user.isActive) return refuse.badRequest("User is deactivated");
  return { kind: "ok", answer: { status: statusBody(user, view.row("statuses", userId), extraType) } };
}

/**
 * All statuses by user id as text; users with nothing set are absent. Deactivated users keep theirs: no event removes
 * or restores it, and clients do not show it.
 */
export const userStatusState: Section<"user_status"> = (view, viewer, { extraEmojiType }) => {
  const rows = new Map(
    view.rows("statuses", { limit: limits.users_per_realm_max }).map(({ key, row }) => [key, row] as const),
  );
  const statuses: Record<string, StatusBody> = {};
  for (const user of view.users.all()) {
    if (user.botType !== null || !canAccessUser(view, viewer, user)) continue;
    const body = statusBody(user, rows.get(user.id), extraEmojiType);
    if (Object.keys(body).length > 0) statuses[String(user.id)] = body;
  }
  return { user_status: statuses };
};
