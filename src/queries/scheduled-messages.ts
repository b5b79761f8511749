/** Reads a user's scheduled messages (public API: get-scheduled-messages, register). */

import { scheduledMessageBody, scheduledMessagesOf } from "../../domain/scheduled-messages.ts";
import type { View } from "../../domain/view.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Section } from "./state-section.ts";

/** The next one due comes first. */
export function listScheduledMessages(view: View, user: UserRecord) {
  return scheduledMessagesOf(view, user.id).map(scheduledMessageBody);
}

export const scheduledMessagesState: Section<"scheduled_messages"> = (view, user) => ({
  scheduled_messages: listScheduledMessages(view, user),
});
