/** Reminders (public API: get, create and delete). */
import { command } from "../../../actors/protocol/decision.ts";
import { reminderBody, remindersOf } from "../../../domain/reminders.ts";
import type { View } from "../../../domain/view.ts";
import { createReminder, deleteReminder, getReminders } from "../../../schemas/reminders.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { Section } from "../../queries/state-section.ts";
import { ok } from "../../runtime/results.ts";
import { bind, type Call, requireCaller } from "../calls.ts";

/** The next one due comes first. */
function listReminders(view: View, user: UserRecord) {
  return remindersOf(view, user.id).map(reminderBody);
}

export const remindersState: Section<"reminders"> = (view, user) => ({ reminders: listReminders(view, user) });

export const reminderRoutes = [
  bind(getReminders, (call) => ok({ reminders: listReminders(call.realm.view, requireCaller(call)) })),

  bind(createReminder, (call) => {
    const { message_id: messageId, scheduled_delivery_timestamp: at, note = "" } = call.params;
    const params = { messageId, dueAt: at * 1000, note: note.trim() };
    return call.realm.dispatcher.ask(
      command(self(call), "reminders.add", params, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(deleteReminder, (call) => {
    const params = { id: call.params.reminder_id };
    return call.realm.dispatcher.ask(
      command(self(call), "reminders.remove", params, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),
];

function self(call: Call) {
  return { actor: "user", id: requireCaller(call).id } as const;
}
