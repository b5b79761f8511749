/** Presence and typing (spec 4.7, 2.8, section 6; public API: update-presence, set-typing-status). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { flag, Id } from "./types.ts";

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
    to: Type.Optional(
      Type.Union([Id, Type.Array(Id, { maxItems: limits.direct_recipients_max })], { wire: "json-or-text" }),
    ),
    stream_id: Type.Optional(Id),
    topic: Type.Optional(Type.String()),
  },
  ok: {},
  errors: [],
});
