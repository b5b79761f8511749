/** Reminders of messages: the notification bot writes to who asked, at the time they asked for (public API: reminders). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { DeliveryTime, Id } from "./types.ts";

export const Reminder = Type.Object({
  reminder_id: Id,
  type: Type.Enum(["private"]),
  /** Who asked, alone. */
  to: Type.Array(Id),
  content: Type.String(),
  rendered_content: Type.String(),
  /** UNIX seconds. */
  scheduled_delivery_timestamp: Type.Integer(),
  failed: Type.Boolean(),
  reminder_target_message_id: Id,
});

export const getReminders = defineEndpoint({
  operationId: "get-reminders",
  method: "GET",
  path: "/reminders",
  authentication: "user",
  effectiveness: "read",
  summary: "The caller's reminders that are not delivered, the next one first.",
  params: {},
  ok: { reminders: Type.Array(Reminder) },
  errors: [],
});

export const createReminder = defineEndpoint({
  operationId: "create-message-reminder",
  method: "POST",
  path: "/reminders",
  authentication: "user",
  effectiveness: "durable",
  summary: "Asks to be reminded of a message.",
  params: {
    message_id: Id,
    scheduled_delivery_timestamp: DeliveryTime,
    note: Type.Optional(Type.String({ maxLength: limits.reminder_note_code_points_max })),
  },
  ok: { reminder_id: Id },
  errors: [],
});

export const deleteReminder = defineEndpoint({
  operationId: "delete-reminder",
  method: "DELETE",
  path: "/reminders/{reminder_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Deletes a reminder: it will not be sent.",
  params: { reminder_id: Id },
  ok: {},
  errors: ["NOT_FOUND"],
});
