/** Who is in a channel, as reads tell it (public API: get-subscribers, get-subscriptions): whole lists, or those who matter now. */
import { limits } from "../../schemas/limits.ts";
import type { View } from "../domain/view.ts";

/** As the parameter include_subscribers says it. */
export type SubscriberLists = "true" | "false" | "partial";

const dayMs = 24 * 60 * 60 * 1000;

/** Ascending. */
export function subscriberIds(view: View, channelId: number): number[] {
  return [...view.subscriptions.ofChannel(channelId)].sort((a, b) => a - b);
}

/**
 * The field of a channel's record that lists its subscribers, where one was asked for: in a large channel, who asked for a
 * part gets the bots and who was here lately.
 */
export function subscriberField(view: View, channelId: number, lists: SubscriberLists): Record<string, unknown> {
  if (lists === "false") return {};
  const ids = subscriberIds(view, channelId);
  if (lists === "true" || ids.length < limits.whole_subscriber_list_max) return { subscribers: ids };
  return { partial_subscribers: ids.filter((id) => isAround(view, id)) };
}

/** A bot, or somebody who was active in the last two weeks, is new, or has a client that listens. */
function isAround(view: View, userId: number): boolean {
  const user = view.users.get(userId);
  if (user === undefined) return false;
  const since = view.now - limits.subscribers_active_days * dayMs;
  const seenAt = view.presence(userId)?.connectedAt ?? 0;
  return user.botType !== null || user.joinedAt >= since || seenAt >= since || view.queuesOf(userId).size > 0;
}
