/** One person's settings for channels that they are in (public API: update-subscription-settings): all that is asked for, or nothing. */
import { refuse } from "../../schemas/errors.ts";
import type { SubscriptionRecord } from "../../schemas/records.ts";
import { subscriptionNotificationNames } from "../../schemas/subscriptions.ts";
import { hasContentAccess } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command, SubscriptionSetting } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";

export function changeSubscriptionSettings(
  _context: unknown,
  asked: Command<"subscription-settings.change">,
  view: View,
): Outcome {
  const user = callerOf(asked, view);
  if (user === null) return refuse.noSuchUser();
  const changed = new Map<number, SubscriptionRecord>();
  const events: Effect[] = [];
  for (const change of asked.params.changes) {
    const { channelId } = change;
    const channel = view.channels.get(channelId);
    if (channel === undefined || channel.isArchived || !hasContentAccess(view, user, channel)) {
      return refuse.invalidChannelId();
    }
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

/** The row as it is when the setting is the same. */
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

/** Muting is told twice, first by its older name (behaviour 4.4). */
function updateEvents(userId: number, { channelId, property, value }: SubscriptionSetting): Effect[] {
  const told = property === "is_muted" ? [{ property: "in_home_view", value: !value }] : [];
  return [...told, { property, value }].map((update) =>
    effects.emit("subscription", { op: "update", ...update, stream_id: channelId }, { to: "users", ids: [userId] }),
  );
}
