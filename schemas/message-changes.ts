/** Changing messages (public API: update-message, delete-message, get-message-history; spec 2.9). */
import { Type } from "typebox";
import { Attachment } from "./attachments.ts";
import { defineEndpoint } from "./endpoint.ts";
import { flag, Id, nullable } from "./types.ts";

export const updateMessage = defineEndpoint({
  operationId: "update-message",
  method: "PATCH",
  path: "/messages/{message_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Changes a message's content, or the topic or channel of it and of those around it.",
  params: {
    message_id: Id,
    content: Type.Optional(Type.String()),
    prev_content_sha256: Type.Optional(Type.String({ maxLength: 64 })),
    propagate_mode: Type.Enum(["change_one", "change_later", "change_all"], { wire: "text", default: "change_one" }),
    send_notification_to_new_thread: flag(true),
    send_notification_to_old_thread: flag(false),
    stream_id: Type.Optional(Id),
    topic: Type.Optional(Type.String()),
  },
  aliases: { subject: "topic" },
  ok: { detached_uploads: Type.Array(Attachment) },
  errors: [
    "EXPECTATION_MISMATCH",
    "MOVE_MESSAGES_TIME_LIMIT_EXCEEDED",
    "REQUEST_CONFUSING_VAR",
    "STREAM_WILDCARD_MENTION_NOT_ALLOWED",
    "TOPIC_WILDCARD_MENTION_NOT_ALLOWED",
  ],
});

export const deleteMessage = defineEndpoint({
  operationId: "delete-message",
  method: "DELETE",
  path: "/messages/{message_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Deletes a message for good.",
  params: { message_id: Id },
  ok: {},
  errors: [],
});

export const getMessageHistory = defineEndpoint({
  operationId: "get-message-history",
  method: "GET",
  path: "/messages/{message_id}/history",
  authentication: "user",
  effectiveness: "read",
  summary: "How a message was after each of its changes, oldest first.",
  params: { message_id: Id, allow_empty_topic_name: flag(false) },
  ok: {
    message_history: Type.Array(
      Type.Object({
        user_id: nullable(Id),
        timestamp: Type.Integer(),
        topic: Type.String(),
        content: Type.String(),
        rendered_content: Type.String(),
        prev_content: Type.Optional(Type.String()),
        prev_rendered_content: Type.Optional(Type.String()),
        prev_topic: Type.Optional(Type.String()),
        prev_stream: Type.Optional(Id),
        stream: Type.Optional(Id),
      }),
    ),
  },
  errors: [],
});
