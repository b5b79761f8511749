/** Reminders (public API: get, create and delete). */
import { command } from "../../../actors/commands.ts";
import { createReminder, deleteReminder, getReminders } from "../../../schemas/reminders.ts";
import { listReminders } from "../../queries/reminders.ts";
import { bind, type Call, callerOf } from "../../runtime/calls.ts";
import { ok } from "../../runtime/entry.ts";

export const reminderRoutes = [
  bind(getReminders, (call) => ok({ reminders: listReminders(call.realm.view, callerOf(call)) })),

  bind(createReminder, (call) => {
    const { message_id: messageId, scheduled_delivery_timestamp: at, note = "" } = call.params;
    const params = { messageId, dueAt: at * 1000, note: note.trim() };
    return call.realm.dispatcher.ask(command(self(call), "reminders.add", params, callerOf(call).id), call.claim);
  }),

  bind(deleteReminder, (call) => {
    const params = { id: call.params.reminder_id };
    return call.realm.dispatcher.ask(command(self(call), "reminders.remove", params, callerOf(call).id), call.claim);
  }),
];

function self(call: Call) {
  return { actor: "user", id: callerOf(call).id } as const;
}
