/** Reminders as their owner sees them (OpenAPI Reminder), in answers, state and events. */
import type { UserId } from "../schemas/ids.ts";
import { limits } from "../schemas/limits.ts";
import type { ReminderRecord } from "../schemas/reminders.ts";
import { seconds } from "./presence.ts";
import { byDueTime } from "./scheduled-messages.ts";
import type { View } from "./view.ts";

/** The next one first. */
export function remindersOf(view: View, userId: UserId): readonly ReminderRecord[] {
  const range = { start: [userId], end: [userId + 1], limit: limits.reminders_per_user_max };
  return view
    .rows("reminders", range)
    .map(({ row }) => row)
    .sort(byDueTime);
}

export function reminderBody({ id, userId, messageId, content, rendered, dueAt, timer }: ReminderRecord) {
  return {
    reminder_id: id,
    type: "private" as const,
    to: [userId],
    content,
    rendered_content: rendered,
    scheduled_delivery_timestamp: seconds(dueAt),
    failed: timer === null,
    reminder_target_message_id: messageId,
  };
}
