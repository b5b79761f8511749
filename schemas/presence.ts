/** Presence and typing (spec 4.7, 2.8, section 6; public API: update-presence, get-presence, get-user-presence, set-typing-status). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { flag, Id, Recipient } from "./types.ts";

export const updatePresence = defineEndpoint({
  operationId: "update-presence",
  method: "POST",
  path: "/users/me/presence",
  authentication: "user",
  effectiveness: "volatile",
  role: "human",
  summary: "Reports the caller's presence and gives everybody's (spec 4.7).",
  params: {
    status: Type.String({ maxLength: 1000 }),
    last_update_id: Type.Optional(Type.Integer({ minimum: -1 })),
    history_limit_days: Type.Optional(Type.Integer({ minimum: 0, maximum: 36_500 })),
    new_user_input: flag(false),
    ping_only: flag(false),
    slim_presence: flag(false),
  },
  ok: {
    presence_last_update_id: Type.Optional(Type.Integer()),
    server_timestamp: Type.Optional(Type.Number()),
    presences: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  errors: [],
});

export const getPresence = defineEndpoint({
  operationId: "get-presence",
  method: "GET",
  path: "/realm/presence",
  authentication: "user",
  effectiveness: "read",
  summary: "Everybody's presence in the legacy format.",
  params: {},
  ok: {
    presences: Type.Record(Type.String(), Type.Unknown()),
    server_timestamp: Type.Number(),
  },
  errors: [],
});

export const getUserPresence = defineEndpoint({
  operationId: "get-user-presence",
  method: "GET",
  path: "/users/{user_id_or_email}/presence",
  authentication: "user",
  effectiveness: "read",
  summary: "The presence of one person, who is named by id or address.",
  params: { user_id_or_email: Type.String({ maxLength: limits.email_code_points_max }) },
  ok: { presence: Type.Unknown() },
  errors: [],
});

export const setTypingStatusForMessageEdit = defineEndpoint({
  operationId: "set-typing-status-for-message-edit",
  method: "POST",
  path: "/messages/{message_id}/typing",
  authentication: "user",
  effectiveness: "volatile",
  summary: "Tells those who read a message that the caller starts or stops editing it.",
  params: { message_id: Id, op: Type.Enum(["start", "stop"], { wire: "text" }) },
  ok: {},
  errors: [],
});

export const setTypingStatus = defineEndpoint({
  operationId: "set-typing-status",
  method: "POST",
  path: "/typing",
  authentication: "user",
  effectiveness: "volatile",
  summary: "Tells the others of a conversation that the caller starts or stops typing.",
  params: {
    op: Type.Enum(["start", "stop"], { wire: "text" }),
    type: Type.Enum(["direct", "private", "stream", "channel"], { default: "direct", wire: "text" }),
    /** Older clients name people by address, and the channel here (OpenAPI, before levels 11 and 215). */
    to: Type.Optional(Recipient),
    stream_id: Type.Optional(Id),
    topic: Type.Optional(Type.String()),
  },
  ok: {},
  errors: [],
});
