/**
 * Reminders about messages: the notification bot sends the user a direct message at the requested time (public API:
 * reminders).
 */

import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import { sentAsStored } from "./event.ts";
import type { MessageId, UserId } from "./ids.ts";
import { OtherId, OtherText, RenderedText, UserIds } from "./person-marks.ts";
import type { Scheduled } from "./scheduled-messages.ts";
import { DeliveryTime, Id } from "./types.ts";

const limits = {
  reminder_note_code_points_max: 500,
  reminders_per_user_max: 1000,
} as const;

export const Reminder = Type.Object(
  {
    reminder_id: OtherId,
    type: Type.Enum(["private"]),
    /** Only the user who created the reminder, to whom alone it is shown. */
    to: UserIds,
    content: OtherText,
    rendered_content: RenderedText,
    /** UNIX seconds. */
    scheduled_delivery_timestamp: Type.Integer(),
    failed: Type.Boolean(),
    reminder_target_message_id: OtherId,
  },
  { title: "Reminder" },
);

export const getReminders = defineEndpoint({
  operationId: "get-reminders",
  method: "GET",
  path: "/reminders",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns the caller's undelivered reminders, next due first.",
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
  summary: "Creates a reminder about a message.",
  params: {
    message_id: Id,
    scheduled_delivery_timestamp: DeliveryTime,
    note: Type.Optional(Type.String({ maxLength: limits.reminder_note_code_points_max })),
  },
  ok: { reminder_id: OtherId },
  errors: [],
});

export const deleteReminder = defineEndpoint({
  operationId: "delete-reminder",
  method: "DELETE",
  path: "/reminders/{reminder_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Deletes a reminder before it is delivered.",
  params: { reminder_id: Id },
  ok: {},
  errors: ["NOT_FOUND"],
});

/** A reminder about a message. Removed in the turn that delivers it (M3). */
export interface ReminderRecord extends Scheduled {
  readonly id: number;
  readonly userId: UserId;
  readonly messageId: MessageId;
  /** "": no note. */
  readonly note: string;
  /** For lists: refers to the message without its text. */
  readonly content: string;
  readonly rendered: string;
}

export interface ReminderInput {
  readonly messageId: MessageId;
  readonly dueAt: number;
  /** "": no note. */
  readonly note: string;
}

/** Parameters of its commands, by type. */
export interface RemindersCommands {
  "reminders.remove": { readonly id: number };
  "reminders.due": { readonly userId: UserId; readonly id: number };
  "reminders.give-up": { readonly id: number };
  "reminders.add": ReminderInput;
}

/** Their replies, by type; other commands reply without fields. */
export interface RemindersReplies {
  readonly "reminders.add": ResultOf<typeof createReminder>;
}

export const remindersArea = defineArea({
  endpoints: [getReminders, createReminder, deleteReminder],
  commands: defineCommands<RemindersCommands, RemindersReplies>(),
  state: { reminders: { reminders: Type.Array(Reminder) } },
  tables: {
    reminders: defineTable<readonly [userId: UserId, id: number], ReminderRecord>({
      fields: ["id", "userId", "messageId", "note", "content", "rendered", "dueAt", "timer"],
    }),
  },
  events: {
    reminders: sentAsStored({ add: { reminders: Type.Array(Reminder) }, remove: { reminder_id: OtherId } }),
  },
  counters: ["reminder"],
  limits,
});
