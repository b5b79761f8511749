/**
 * A user's settings for channels they are subscribed to (public API: update-subscription-settings). Requests are
 * atomic.
 */

import { openChannel } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal, refuse } from "../../schemas/errors.ts";
import type { UserId } from "../../schemas/ids.ts";
import {
  type SubscriptionRecord,
  type SubscriptionSetting,
  subscriptionNotificationNames,
} from "../../schemas/subscriptions.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { done, type Effect, effects, forUser, type Outcome, type Params } from "../protocol/decision.ts";

export function changeSubscriptionSettings(
  user: UserRecord,
  params: Params<"subscription-settings.change">,
  view: View,
): Outcome {
  const changed = new Map<number, SubscriptionRecord>();
  const events: Effect[] = [];
  for (const change of params.changes) {
    const { channelId } = change;
    const channel = openChannel(view, user, channelId);
    if (isRefusal(channel)) return channel;
    const before = changed.get(channelId) ?? view.subscriptions.get(user.id, channelId);
    if (before?.isActive !== true) return refuse.badRequest(`Not subscribed to channel ID ${channelId}`);
    const after = withSetting(before, change);
    if (after === before) continue;
    changed.set(channelId, after);
    events.push(...updateEvents(user.id, change));
  }
  const rows = [...changed.values()].map((row) => effects.put("subscriptions", [row.channelId, user.id], row));
  return done({}, [...rows, ...events]);
}

/** The effects of one change, which is valid; past subscriptions change without an event. */
export function subscriptionChange(before: SubscriptionRecord, change: SubscriptionSetting): Effect[] {
  const after = withSetting(before, change);
  if (after === before) return [];
  const row = effects.put("subscriptions", [after.channelId, after.userId], after);
  return after.isActive ? [row, ...updateEvents(after.userId, change)] : [row];
}

/** Returns the same object if the setting does not change. */
function withSetting(row: SubscriptionRecord, change: SubscriptionSetting): SubscriptionRecord {
  switch (change.property) {
    case "color":
      return row.color === change.value ? row : { ...row, color: change.value };
    case "is_muted":
      return row.isMuted === change.value ? row : { ...row, isMuted: change.value };
    case "pin_to_top":
      return row.pinToTop === change.value ? row : { ...row, pinToTop: change.value };
    default: {
      const at = subscriptionNotificationNames.indexOf(change.property);
      if (row.notifications[at] === change.value) return row;
      const notifications = row.notifications.map((own, index) => (index === at ? change.value : own));
      return { ...row, notifications };
    }
  }
}

/** Muting is announced twice, first under its older name (behaviour 4.4). */
function updateEvents(userId: UserId, { channelId, property, value }: SubscriptionSetting): Effect[] {
  const olderProperty = property === "is_muted" ? [{ property: "in_home_view", value: !value }] : [];
  return [...olderProperty, { property, value }].map((update) =>
    effects.emit("subscription", { op: "update", ...update, stream_id: channelId }, { to: "users", ids: [userId] }),
  );
}

export const subscriptionSettingsDecisions = {
  "subscription-settings.change": forUser(changeSubscriptionSettings),
} as const;
