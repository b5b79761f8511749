/** Scheduled messages as their author sees them (OpenAPI ScheduledMessage), in answers, state and events. */
import type { UserId } from "../schemas/ids.ts";
import { limits } from "../schemas/limits.ts";
import type { ScheduledMessageRecord } from "../schemas/scheduled-messages.ts";
import { seconds } from "./presence.ts";
import type { View } from "./view.ts";

/** The next one first. */
export function scheduledMessagesOf(view: View, userId: UserId): readonly ScheduledMessageRecord[] {
  const range = { start: [userId], end: [userId + 1], limit: limits.scheduled_messages_per_user_max };
  return view
    .rows("scheduledMessages", range)
    .map(({ row }) => row)
    .sort(byDueTime);
}

export function byDueTime(a: { dueAt: number; id: number }, b: { dueAt: number; id: number }): number {
  return a.dueAt - b.dueAt || a.id - b.id;
}

export function scheduledMessageBody(row: ScheduledMessageRecord) {
  const { id, userId, channelId, topic, userIds, content, rendered, dueAt, timer } = row;
  return {
    scheduled_message_id: id,
    ...(channelId === null
      ? { type: "private" as const, to: othersOf(userIds ?? [], userId) }
      : { type: "stream" as const, to: channelId, topic }),
    content,
    rendered_content: rendered,
    scheduled_delivery_timestamp: seconds(dueAt),
    failed: timer === null,
  };
}

/** With several recipients the author is not listed. */
function othersOf(userIds: readonly UserId[], userId: UserId): readonly number[] {
  return userIds.length === 1 ? userIds : userIds.filter((id) => id !== userId);
}
