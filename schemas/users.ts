/** Accounts (spec 2.6, 4.8, 4.15, 4.20; public API: create-user, get-user, update-user, deactivate-user, reactivate-user). */
import { type Static, Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { ProfileDataElement } from "./profile-fields.ts";
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

/** Values of custom profile fields by the field's id (spec 2.6). */
const profileData = Type.Record(Type.String(), Type.Unknown());

/** Spec 2.6. */
export const User = Type.Object({ ...userFields, profile_data: Type.Optional(profileData) });

/** What a single account is asked with, by id or by address. */
const oneUserParams = { client_gravatar: flag(true), include_custom_profile_fields: flag(false) };

export type ProfileDatum = Static<typeof ProfileDataElement>;

/** Spec 4.8. What a role may be is the actor's to say (D11). */
const updateParams = {
  full_name: Type.Optional(Type.String()),
  role: Type.Optional(Type.Integer()),
  profile_data: Type.Optional(Type.Array(ProfileDataElement, { maxItems: limits.profile_values_per_update_max })),
  new_email: Type.Optional(Type.String()),
};

/** The account's real address, where the caller may see it, or its dummy form (spec 4.8). */
const Address = Type.String({ maxLength: limits.email_code_points_max });

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
  params: {
    user_id: Id,
    deactivation_notification_comment: Type.Optional(
      Type.String({ maxLength: limits.deactivation_comment_code_points_max }),
    ),
  },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const deactivateOwnUser = defineEndpoint({
  operationId: "deactivate-own-user",
  method: "DELETE",
  path: "/users/me",
  authentication: "user",
  effectiveness: "durable",
  role: "human",
  summary: "Deactivates the caller's own account; the last owner stays.",
  params: {},
  ok: {},
  errors: ["CANNOT_DEACTIVATE_LAST_USER"],
});

export const reactivateUser = defineEndpoint({
  operationId: "reactivate-user",
  method: "POST",
  path: "/users/{user_id}/reactivate",
  authentication: "user",
  effectiveness: "durable",
  summary: "Makes a deactivated account active again; administrators, and owners of a bot.",
  params: { user_id: Id },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const getUser = defineEndpoint({
  operationId: "get-user",
  method: "GET",
  path: "/users/{user_id}",
  authentication: "user",
  effectiveness: "read",
  summary: "One account, by id.",
  params: { user_id: Id, ...oneUserParams },
  ok: { user: User },
  errors: [],
});

export const getUserByEmail = defineEndpoint({
  operationId: "get-user-by-email",
  method: "GET",
  path: "/users/{email}",
  authentication: "user",
  effectiveness: "read",
  summary: "One account, by its real address where the caller may see it, or by its dummy address.",
  params: { email: Address, ...oneUserParams },
  ok: { user: User },
  errors: [],
});

export const updateUser = defineEndpoint({
  operationId: "update-user",
  method: "PATCH",
  path: "/users/{user_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Changes another account's name, role, profile or address (spec 4.8); administrators, and owners of a bot.",
  params: { user_id: Id, ...updateParams },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const updateUserByEmail = defineEndpoint({
  operationId: "update-user-by-email",
  method: "PATCH",
  path: "/users/{email}",
  authentication: "user",
  effectiveness: "durable",
  summary: "The same for the account with an address (spec 4.8).",
  params: { email: Address, ...updateParams },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});
