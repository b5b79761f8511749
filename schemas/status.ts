/** Status: a text and an emoji beside a person's name (spec 2.7, 4.11, 4.12; public API: get-user-status). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { Id } from "./types.ts";

/** Spec 2.7: the namespaces of emoji codes. The third one is accepted under the public API's own name, too (D22). */
export const reactionTypes = {
  unicode: "unicode_emoji",
  realm: "realm_emoji",
  extra: "service_extra_emoji",
} as const;

/** Lengths of the text and which emoji there are, the actor decides: only after the person was found (behaviour 2.11). */
const statusParams = {
  emoji_code: Type.Optional(Type.String({ maxLength: limits.emoji_name_or_code_code_points_max })),
  emoji_name: Type.Optional(Type.String({ maxLength: limits.emoji_name_or_code_code_points_max })),
  reaction_type: Type.Optional(Type.String({ maxLength: limits.emoji_name_or_code_code_points_max })),
  status_text: Type.Optional(Type.String()),
};

/** What is not set is absent. */
export const UserStatus = Type.Object({
  away: Type.Optional(Type.Boolean()),
  status_text: Type.Optional(Type.String()),
  emoji_name: Type.Optional(Type.String()),
  emoji_code: Type.Optional(Type.String()),
  reaction_type: Type.Optional(Type.String()),
});

export const updateStatus = defineEndpoint({
  operationId: "update-status",
  method: "POST",
  path: "/users/me/status",
  authentication: "user",
  effectiveness: "durable",
  role: "human",
  summary: "Changes the parts of the caller's status that are passed (spec 4.12).",
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
  summary: "Changes the parts of somebody's status that are passed (spec 4.11); organization administrators only.",
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
  summary: "The status of a person; empty when nothing is set.",
  params: { user_id: Id },
  ok: { status: UserStatus },
  errors: [],
});
