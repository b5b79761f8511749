/** Submessages: users' actions on a poll or to-do list in a message (public API: /submessage). */

import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import type { MessageId } from "./ids.ts";
import { OtherId, OtherText, typedBy, UserId } from "./person-marks.ts";
import { Id } from "./types.ts";

const limits = {
  submessages_per_message_max: 2000,
  submessage_code_points_max: 10_000,
  submessage_type_code_points_max: 40,
  /** Added per submessage to the size of its content when the size of an answer is bounded. */
  submessage_overhead_characters: 1000,
  /** Total content of one message's submessages. */
  submessage_characters_per_message_max: 200_000,
} as const;

/** As in the message object (OpenAPI, MessagesBase). */
export const Submessage = Type.Object({
  id: OtherId,
  message_id: OtherId,
  sender_id: UserId,
  msg_type: OtherText,
  content: typedBy("sender_id"),
});

export const addSubmessage = defineEndpoint({
  operationId: "add-submessage",
  method: "POST",
  path: "/submessage",
  authentication: "user",
  effectiveness: "durable",
  summary:
    "Adds a vote, an option, a task or the like to a message. The first submessage must be sent by the message's author.",
  params: {
    message_id: Id,
    msg_type: Type.String({ maxLength: limits.submessage_type_code_points_max }),
    /** JSON text; valid content depends on the message's widget. */
    content: Type.String({ maxLength: limits.submessage_code_points_max }),
  },
  ok: {},
  errors: [],
});

export interface SubmessageRecord {
  readonly senderId: UserId;
  readonly msgType: string;
  /** JSON text. */
  readonly content: string;
}

/** The widget formed by a message's submessages, and totals over them. */
export interface WidgetRecord {
  /**
   * The type given by the first submessage of type "widget"; "": it gives no type; null: there is no such submessage.
   */
  readonly widgetType: string | null;
  readonly count: number;
  readonly characters: number;
}

/** Parameters of its commands, by type. */
export interface SubmessagesCommands {
  "submessage.add": { readonly msgType: string; readonly content: string };
}

export const submessagesArea = defineArea({
  endpoints: [addSubmessage],
  commands: defineCommands<SubmessagesCommands>(),
  tables: {
    submessages: defineTable<readonly [messageId: MessageId, id: number], SubmessageRecord>({
      fields: ["senderId", "msgType", "content"],
    }),
    /** By message id; only for messages with the trait `hasSubmessages`. */
    widgets: defineTable<MessageId, WidgetRecord>({
      fields: ["widgetType", "count", "characters"],
    }),
  },
  counters: ["submessage"],
  limits,
});
