/** Accounts (spec 2.6, 4.15, 4.20; public API: create-user, get-own-user). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { flag, Id, Ids, nullable } from "./types.ts";

const userFields = {
  user_id: Id,
  email: Type.String(),
  delivery_email: nullable(Type.String()),
  full_name: Type.String(),
  avatar_url: nullable(Type.String()),
  avatar_version: Type.Integer(),
  date_joined: Type.String(),
  timezone: Type.String(),
  role: Type.Integer(),
  is_active: Type.Boolean(),
  is_admin: Type.Boolean(),
  is_owner: Type.Boolean(),
  is_guest: Type.Boolean(),
  is_bot: Type.Boolean(),
  bot_type: nullable(Type.Integer()),
  bot_owner_id: nullable(Id),
};

/** Spec 2.6. */
export const User = Type.Object(userFields);

export const createUser = defineEndpoint({
  operationId: "create-user",
  method: "POST",
  path: "/users",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Creates an account; organization administrators only.",
  params: {
    email: Type.String({ maxLength: limits.email_code_points_max }),
    password: Type.String({ maxLength: limits.password_bytes_max, secret: true }),
    full_name: Type.String(),
  },
  ok: { user_id: Id },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const getOwnUser = defineEndpoint({
  operationId: "get-own-user",
  method: "GET",
  path: "/users/me",
  authentication: "user",
  effectiveness: "read",
  summary: "The caller's own account.",
  params: {},
  ok: { ...userFields, max_message_id: Type.Integer(), profile_data: Type.Record(Type.String(), Type.Unknown()) },
  errors: [],
});

export const getUsers = defineEndpoint({
  operationId: "get-users",
  method: "GET",
  path: "/users",
  authentication: "optional",
  effectiveness: "read",
  summary: "Everybody in the organization, or those with the given ids (spec 4.15).",
  params: {
    client_gravatar: flag(true),
    include_custom_profile_fields: flag(false),
    user_ids: Type.Optional(Ids),
  },
  ok: { members: Type.Array(User) },
  errors: [],
});

export const deactivateUser = defineEndpoint({
  operationId: "deactivate-user",
  method: "DELETE",
  path: "/users/{user_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Deactivates an account (spec 4.20); organization administrators only.",
  params: { user_id: Id },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});
