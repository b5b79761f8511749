/**
 * Subscriber lists for reads (public API: get-subscribers, get-subscriptions): complete, or only recently active users.
 */

import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";

/** Values of the parameter include_subscribers. */
export type SubscriberLists = "true" | "false" | "partial";

const dayMs = 24 * 60 * 60 * 1000;

/** Ascending. */
export function subscriberIds(view: View, channelId: number): number[] {
  return [...view.subscriptions.ofChannel(channelId)].sort((a, b) => a - b);
}

/**
 * The field of the channel object with its subscribers, if requested. For a large channel, a partial list contains bots
 * and recently active users.
 */
export function subscriberField(view: View, channelId: number, lists: SubscriberLists) {
  if (lists === "false") return {};
  const ids = subscriberIds(view, channelId);
  if (lists === "true" || ids.length < limits.whole_subscriber_list_max) return { subscribers: ids };
  return { partial_subscribers: ids.filter((id) => isAround(view, id)) };
}

/** A bot, or a user who was active in the last two weeks, is new, or has an event queue. */
export function isAround(view: View, userId: number): boolean {
  const user = view.users.get(userId);
  if (user === undefined) return false;
  const since = view.now - limits.subscribers_active_days * dayMs;
  const seenAt = view.presence(userId)?.connectedAt ?? 0;
  return user.botType !== null || user.joinedAt >= since || seenAt >= since || view.queuesOf(userId).size > 0;
}
