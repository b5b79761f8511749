/** Reminders as who asked for them knows them (OpenAPI Reminder): in answers, in state and in events alike. */
import { limits } from "../../schemas/limits.ts";
import type { ReminderRecord } from "../../schemas/records.ts";
import { seconds } from "./presence.ts";
import { byDueTime } from "./scheduled-messages.ts";
import type { View } from "./view.ts";

/** The next one first. */
export function remindersOf(view: View, userId: number): readonly ReminderRecord[] {
  const range = { start: [userId], end: [userId + 1], limit: limits.reminders_per_user_max };
  return view
    .rows("reminders", range)
    .map(({ row }) => row)
    .sort(byDueTime);
}

export function reminderBody({ id, userId, messageId, content, rendered, dueAt, timer }: ReminderRecord) {
  return {
    reminder_id: id,
    type: "private",
    to: [userId],
    content,
    rendered_content: rendered,
    scheduled_delivery_timestamp: seconds(dueAt),
    failed: timer === null,
    reminder_target_message_id: messageId,
  };
}
