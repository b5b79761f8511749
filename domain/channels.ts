/** A channel's privacy and whether it is active (behaviour 2.3, 3.8). */

import type { ChannelRecord } from "../schemas/channels.ts";
import { limits } from "../schemas/limits.ts";
import type { View } from "./view.ts";

type Privacy = Pick<ChannelRecord, "isPrivate" | "isWebPublic" | "isHistoryPublic">;

/** The name that the notification bot and clients use. */
export function privacyName({ isPrivate, isWebPublic, isHistoryPublic }: Privacy): string {
  if (isWebPublic) return "Web-public";
  if (!isPrivate) return "Public";
  return isHistoryPublic ? "Private, shared history" : "Private, protected history";
}

const dayMs = 24 * 60 * 60 * 1000;

function activeSince(view: View): number {
  return view.now - limits.channel_inactive_days * dayMs;
}

/** Whether the channel is old enough to count as inactive. */
export function isOfAge(view: View, channel: ChannelRecord): boolean {
  return channel.createdAt < activeSince(view);
}

/**
 * Whether the channel had a message in the last half year; a new channel is active without a lookup (behaviour 2.3).
 */
export function isRecentlyActive(view: View, channel: ChannelRecord): boolean {
  if (!isOfAge(view, channel)) return true;
  const range = { start: [channel.id, Number.MAX_SAFE_INTEGER], end: [channel.id], reverse: true, limit: 1 };
  const [last] = view.keys("channelMessages", range);
  const message = last === undefined ? undefined : view.row("messages", last[1]);
  return message !== undefined && message.sentAt >= activeSince(view);
}
