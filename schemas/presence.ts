/**
 * Presence and typing (spec 4.7, 2.8, section 6; public API: update-presence, get-presence, get-user-presence,
 * set-typing-status).
 */

import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import type { ChannelId, MessageId, UserId } from "./ids.ts";
import { commonLimits } from "./limits/common.ts";
import { marked } from "./person-marks.ts";
import { flag, Id, Recipient } from "./types.ts";

const limits = {
  batch_persist_ms: 30_000,
  batch_rows_max: 250,
  presence_history_days: 14,
  presence_ping_interval_s: 60,
  presence_offline_threshold_s: 200,
  presence_hidden_s: 320,
  presence_update_min_s: 55,
  presence_legacy_active_offset_s: 70,
  presence_coalesce_ms: 1000,
  /** Presence events in the legacy format (one event per user), over all queues. */
  presence_older_deliveries_max: 10_000,
  typing_expiry_ms: 15_000,
  typing_typists_per_conversation_max: 100,
  typing_channel_subscribers_max: 100,
  typing_started_expiry_ms: 45_000,
  typing_stopped_wait_ms: 12_000,
  typing_started_wait_ms: 30_000,
} as const;

/** -1: there is no update yet. */
const UpdateId = marked(Type.Integer({ minimum: -1 }), "none");

/** Times are UNIX seconds. */
const ModernPresence = Type.Object({ active_timestamp: Type.Integer(), idle_timestamp: Type.Integer() });

const legacyFields = {
  client: Type.Enum(["website"]),
  status: Type.Enum(["active", "idle"]),
  timestamp: Type.Integer(),
};
const LegacyPresence = Type.Object({
  aggregated: Type.Object(legacyFields),
  website: Type.Object({ ...legacyFields, pushable: Type.Literal(false) }),
});

/** By user id, or in the legacy format by address. */
const Presences = Type.Record(Type.String(), Type.Union([ModernPresence, LegacyPresence]));
const OnePresence = Type.Object({ status: Type.Enum(["active", "idle", "offline"]), timestamp: Type.Integer() });

export const updatePresence = defineEndpoint({
  operationId: "update-presence",
  method: "POST",
  path: "/users/me/presence",
  authentication: "user",
  effectiveness: "volatile",
  role: "human",
  summary: "Reports the caller's presence and returns that of all users (spec 4.7).",
  params: {
    status: Type.String({ maxLength: 1000 }),
    last_update_id: Type.Optional(Type.Integer({ minimum: -1 })),
    history_limit_days: Type.Optional(Type.Integer({ minimum: 0, maximum: 36_500 })),
    new_user_input: flag(false),
    ping_only: flag(false),
    slim_presence: flag(false),
  },
  ok: {
    presence_last_update_id: Type.Optional(UpdateId),
    server_timestamp: Type.Optional(Type.Number()),
    presences: Type.Optional(Presences),
  },
  errors: [],
});

export const getPresence = defineEndpoint({
  operationId: "get-presence",
  method: "GET",
  path: "/realm/presence",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns the presence of all users in the legacy format.",
  params: {},
  ok: {
    presences: Type.Record(Type.String(), LegacyPresence),
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
  summary: "Returns the presence of one user, given by id or address.",
  params: { user_id_or_email: Type.String({ maxLength: commonLimits.email_code_points_max }) },
  ok: { presence: Type.Object({ aggregated: OnePresence, website: OnePresence }) },
  errors: [],
});

export const setTypingStatusForMessageEdit = defineEndpoint({
  operationId: "set-typing-status-for-message-edit",
  method: "POST",
  path: "/messages/{message_id}/typing",
  authentication: "user",
  effectiveness: "volatile",
  summary: "Notifies the readers of a message that the caller starts or stops editing it.",
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
  summary: "Notifies the other participants of a conversation that the caller starts or stops typing.",
  params: {
    op: Type.Enum(["start", "stop"], { wire: "text" }),
    type: Type.Enum(["direct", "private", "stream", "channel"], { default: "direct", wire: "text" }),
    /** Older clients name users by address, and pass the channel here (OpenAPI, before levels 11 and 215). */
    to: Type.Optional(Recipient),
    stream_id: Type.Optional(Id),
    topic: Type.Optional(Type.String()),
  },
  ok: {},
  errors: [],
});

export interface PresenceRecord {
  readonly userId: UserId;
  readonly activeAt: number | null;
  readonly connectedAt: number;
  readonly updateId: number;
}

export type TypingTarget =
  | { readonly kind: "direct"; readonly userIds: readonly UserId[] }
  | { readonly kind: "channel"; readonly channelId: ChannelId; readonly topic: string }
  /** Typing in the edit of this message. */
  | { readonly kind: "edit"; readonly messageId: MessageId };

/** Parameters of its commands, by type. */
export interface PresenceCommands {
  "presence.persist": { readonly rows: readonly unknown[] };
  "presence.report": { readonly status: "active" | "idle" };
  "presence.lapse": Record<string, never>;
  "presence.share": { readonly isShared: boolean };
  "typing.start": { readonly target: TypingTarget };
  "typing.stop": { readonly target: TypingTarget };
  "typing.expire": { readonly userId: UserId; readonly target: TypingTarget };
}

export const presenceArea = defineArea({
  endpoints: [updatePresence, getPresence, getUserPresence, setTypingStatusForMessageEdit, setTypingStatus],
  commands: defineCommands<PresenceCommands>(),
  state: {
    presence: {
      presences: Presences,
      presence_last_update_id: UpdateId,
      server_timestamp: Type.Number(),
    },
  },
  tables: {
    presence: defineTable<UserId, PresenceRecord>({
      fields: ["userId", "activeAt", "connectedAt", "updateId"],
      dates: ["activeAt", "connectedAt"],
    }),
  },
  limits,
});
