/** Reads a user's reminders (public API: get-reminders, register). */

import { reminderBody, remindersOf } from "../../domain/reminders.ts";
import type { View } from "../../domain/view.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Section } from "./state-section.ts";

/** The next one due comes first. */
export function listReminders(view: View, user: UserRecord) {
  return remindersOf(view, user.id).map(reminderBody);
}

export const remindersState: Section<"reminders"> = (view, user) => ({ reminders: listReminders(view, user) });
