/** Status: a text and an emoji shown next to a user's name (spec 2.7, 4.11, 4.12; public API: get-user-status). */

import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import { emojiFields, type ReactionType } from "./event-values.ts";
import type { UserId } from "./ids.ts";
import { commonLimits } from "./limits/common.ts";
import { OtherText } from "./person-marks.ts";
import { Id } from "./types.ts";

const limits = {
  status_text_code_points_max: 60,
} as const;

/** The actor checks text length and emoji, because the user must be found first (behaviour 2.11). */
const statusParams = {
  emoji_code: Type.Optional(Type.String({ maxLength: commonLimits.emoji_name_or_code_code_points_max })),
  emoji_name: Type.Optional(Type.String({ maxLength: commonLimits.emoji_name_or_code_code_points_max })),
  reaction_type: Type.Optional(Type.String({ maxLength: commonLimits.emoji_name_or_code_code_points_max })),
  status_text: Type.Optional(Type.String()),
};

/** Values that are not set are absent. */
export const UserStatus = Type.Object({
  away: Type.Optional(Type.Boolean()),
  status_text: Type.Optional(OtherText),
  emoji_name: Type.Optional(emojiFields.emoji_name),
  emoji_code: Type.Optional(emojiFields.emoji_code),
  reaction_type: Type.Optional(emojiFields.reaction_type),
});

export const updateStatus = defineEndpoint({
  operationId: "update-status",
  method: "POST",
  path: "/users/me/status",
  authentication: "user",
  effectiveness: "durable",
  role: "human",
  summary: "Changes the passed parts of the caller's status (spec 4.12).",
  params: { away: Type.Optional(Type.Boolean()), ...statusParams },
  ok: {},
  errors: [],
});

export const updateStatusForUser = defineEndpoint({
  operationId: "update-status-for-user",
  method: "POST",
  path: "/users/{user_id}/status",
  authentication: "user",
  effectiveness: "durable",
  summary: "Changes the passed parts of a user's status (spec 4.11); organization administrators only.",
  params: { user_id: Id, ...statusParams },
  ok: {},
  errors: [],
});

export const getUserStatus = defineEndpoint({
  operationId: "get-user-status",
  method: "GET",
  path: "/users/{user_id}/status",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns a user's status; empty if nothing is set.",
  params: { user_id: Id },
  ok: { status: UserStatus },
  errors: [],
});

/** Spec 2.7. "" means not set; a row with nothing set is removed. */
export interface StatusRecord {
  readonly userId: UserId;
  readonly statusText: string;
  readonly emojiName: string;
  readonly emojiCode: string;
  readonly reactionType: ReactionType | "";
}

/** null: not passed, keeps its value (spec 4.12). */
export interface StatusChange {
  readonly text: string | null;
  readonly emojiName: string | null;
  readonly emojiCode: string | null;
  readonly reactionType: string | null;
  readonly away: boolean | null;
  /** true: the caller's own status; false: an administrator changes another user's status (spec 4.11). */
  readonly isOwn: boolean;
}

/** Parameters of its commands, by type. */
export interface StatusCommands {
  "status.update": StatusChange;
}

export const statusArea = defineArea({
  endpoints: [updateStatus, updateStatusForUser, getUserStatus],
  commands: defineCommands<StatusCommands>(),
  state: { user_status: { user_status: Type.Record(Type.String(), UserStatus) } },
  tables: {
    statuses: defineTable<UserId, StatusRecord>({
      fields: ["userId", "statusText", "emojiName", "emojiCode", "reactionType"],
    }),
  },
  limits,
});
