/** Status (spec 4.11, 4.12; public API: get-user-status). */
import { command } from "../../../actors/protocol/decision.ts";
import { type ExtraType, extraTypeFor } from "../../../domain/emoji/extra-type.ts";
import { canAccessUser } from "../../../domain/people.ts";
import { type StatusBody, statusBody } from "../../../domain/status.ts";
import type { View } from "../../../domain/view.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import { getUserStatus, type StatusChange, updateStatus, updateStatusForUser } from "../../../schemas/status.ts";
import { userSetting } from "../../../schemas/user-settings.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { Section } from "../../queries/state-section.ts";
import { bind, type Call, requireCaller } from "../calls.ts";

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
    const row = rows.get(user.id);
    // Most people have no status, and cost no more than this.
    if (row === undefined && userSetting(user, "presence_enabled")) continue;
    if (user.botType !== null || !canAccessUser(view, viewer, user)) continue;
    const body = statusBody(user, row, extraEmojiType);
    if (Object.keys(body).length > 0) statuses[String(user.id)] = body;
  }
  return { user_status: statuses };
};

export const statusRoutes = [
  bind(updateStatus, (call) => {
    const { away } = call.params;
    return ask(call, requireCaller(call).id, { ...partsOf(call.params), away: away ?? null, isOwn: true });
  }),

  bind(updateStatusForUser, (call) => {
    return ask(call, call.params.user_id, { ...partsOf(call.params), away: null, isOwn: false });
  }),

  bind(getUserStatus, (call) => {
    return readStatus(call.realm.view, requireCaller(call), call.params.user_id, extraTypeFor(call.client));
  }),
];

interface StatusParams {
  readonly status_text?: string | undefined;
  readonly emoji_name?: string | undefined;
  readonly emoji_code?: string | undefined;
  readonly reaction_type?: string | undefined;
}

function partsOf(params: StatusParams) {
  return {
    text: params.status_text ?? null,
    emojiName: params.emoji_name ?? null,
    emojiCode: params.emoji_code ?? null,
    reactionType: params.reaction_type ?? null,
  };
}

function ask(call: Call, userId: number, change: StatusChange) {
  return call.realm.dispatcher.ask(
    command({ actor: "user", id: userId }, "status.update", change, requireCaller(call).id),
    call.idempotencyKey,
  );
}
