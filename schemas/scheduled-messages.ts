/** Scheduled messages: what somebody writes now and the server posts for them later (public API: scheduled_messages). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { DeliveryTime, Id } from "./types.ts";

const MessageType = Type.Enum(["direct", "channel", "stream", "private"], { wire: "text" });

/** A channel, or people; ids only. */
const Target = Type.Union([Id, Type.Array(Id, { maxItems: limits.direct_recipients_max })]);

export const ScheduledMessage = Type.Object({
  scheduled_message_id: Id,
  type: Type.Enum(["stream", "private"]),
  to: Type.Union([Id, Type.Array(Id)]),
  /** Only of a channel's. */
  topic: Type.Optional(Type.String()),
  content: Type.String(),
  rendered_content: Type.String(),
  /** UNIX seconds. */
  scheduled_delivery_timestamp: Type.Integer(),
  /** It was due and could not be posted. */
  failed: Type.Boolean(),
});

export const getScheduledMessages = defineEndpoint({
  operationId: "get-scheduled-messages",
  method: "GET",
  path: "/scheduled_messages",
  authentication: "user",
  effectiveness: "read",
  summary: "The caller's scheduled messages that are not delivered, the next one first.",
  params: {},
  ok: { scheduled_messages: Type.Array(ScheduledMessage) },
  errors: [],
});

export const createScheduledMessage = defineEndpoint({
  operationId: "create-scheduled-message",
  method: "POST",
  path: "/scheduled_messages",
  authentication: "user",
  effectiveness: "durable",
  summary: "Schedules a message; it is checked as if it were sent now, and again when it is due.",
  params: {
    type: MessageType,
    to: Target,
    content: Type.String(),
    topic: Type.Optional(Type.String()),
    scheduled_delivery_timestamp: DeliveryTime,
    read_by_sender: Type.Optional(Type.Boolean()),
  },
  ok: { scheduled_message_id: Id },
  errors: ["STREAM_DOES_NOT_EXIST", "STREAM_WILDCARD_MENTION_NOT_ALLOWED", "TOPIC_WILDCARD_MENTION_NOT_ALLOWED"],
});

export const updateScheduledMessage = defineEndpoint({
  operationId: "update-scheduled-message",
  method: "PATCH",
  path: "/scheduled_messages/{scheduled_message_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Changes a scheduled message; one that failed needs a new time.",
  params: {
    scheduled_message_id: Id,
    type: Type.Optional(MessageType),
    to: Type.Optional(Target),
    content: Type.Optional(Type.String()),
    topic: Type.Optional(Type.String()),
    scheduled_delivery_timestamp: Type.Optional(DeliveryTime),
  },
  ok: {},
  errors: [
    "NOT_FOUND",
    "STREAM_DOES_NOT_EXIST",
    "STREAM_WILDCARD_MENTION_NOT_ALLOWED",
    "TOPIC_WILDCARD_MENTION_NOT_ALLOWED",
  ],
});

export const deleteScheduledMessage = defineEndpoint({
  operationId: "delete-scheduled-message",
  method: "DELETE",
  path: "/scheduled_messages/{scheduled_message_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Deletes a scheduled message: it will not be sent.",
  params: { scheduled_message_id: Id },
  ok: {},
  errors: ["NOT_FOUND"],
});
