/** Statuses as they are read (spec 2.7; OpenAPI get-user-status and register): what is not set is absent. */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/records.ts";
import type { ExtraType } from "../domain/emoji/extra-type.ts";
import { canAccessUser } from "../domain/people.ts";
import { type StatusBody, statusBody } from "../domain/status.ts";
import type { View } from "../domain/view.ts";
import type { Section } from "./state-section.ts";

/** The status of one person for a viewer (behaviour 2.11): bots have none, and those one may not know do not exist. */
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
 * Everybody's status, by user id as text; who has set nothing is absent. Deactivated people keep theirs: no event takes it
 * away or brings it back, and clients do not show it.
 */
export const userStatusState: Section = (view, viewer, { extraEmojiType }) => {
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
