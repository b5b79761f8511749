/** A person's reminders as they are read (public API: get-reminders, register). */
import type { UserRecord } from "../../schemas/records.ts";
import { reminderBody, remindersOf } from "../domain/reminders.ts";
import type { View } from "../domain/view.ts";
import type { Section } from "./state-section.ts";

/** The next one first. */
export function listReminders(view: View, user: UserRecord) {
  return remindersOf(view, user.id).map(reminderBody);
}

export const remindersState: Section = (view, user) => ({ reminders: listReminders(view, user) });
