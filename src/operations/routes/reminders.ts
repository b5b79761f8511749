/** Reminders (public API: get, create and delete). */
import { command } from "../../../actors/protocol/commands.ts";
import { createReminder, deleteReminder, getReminders } from "../../../schemas/reminders.ts";
import { listReminders } from "../../queries/reminders.ts";
import { ok } from "../../runtime/results.ts";
import { bind, type Call, requireCaller } from "../calls.ts";

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
