/**
 * Accounts (spec 2.6, 4.8, 4.15, 4.20; public API: create-user, get-user, update-user, deactivate-user,
 * reactivate-user).
 */
import { type Static, Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import type { DeepReadonly } from "./event.ts";
import { commonLimits } from "./limits/common.ts";
import {
  avatarOf,
  deliveryEmailOf,
  emailOf,
  fullNameOf,
  marked,
  OtherText,
  RenderedText,
  UserId,
} from "./person-marks.ts";
import { ProfileDataElement, type ProfileValueChange } from "./profile-fields.ts";
import { flag, Id, Ids, NoItems, nullable, type Role, roles } from "./types.ts";

const limits = {
  full_name_code_points_max: 100,
  deactivation_comment_code_points_max: 2000,
  users_per_realm_max: 1_000_000,
  /** A guest's direct conversations examined for users they may see. */
  known_conversations_max: 10_000,
  /** Visibility changes sent as single events; with more, the user's queues are closed and clients register again. */
  visibility_events_max: 1000,
  visibility_pairs_max: 100_000,
  /**
   * Subscribers of newly visible private channels in the events of one turn; with more, the affected queues are closed.
   */
  visibility_subscribers_max: 1_000_000,
  /** A splittable membership change is split so that each part examines at most this many pairs. */
  visibility_pairs_per_command_max: 10_000,
  encoded_users_per_piece: 256,
  encoded_users_bytes_max: 256 * 1024 * 1024,
  /** Users in the state of POST /register as JSON, of all organizations together. */
  encoded_people_bytes_max: 64 * 1024 * 1024,
} as const;

const userFields = {
  user_id: UserId,
  email: emailOf("user_id"),
  delivery_email: deliveryEmailOf("user_id"),
  full_name: fullNameOf("user_id"),
  avatar_url: avatarOf("user_id"),
  avatar_version: Type.Integer(),
  date_joined: OtherText,
  timezone: OtherText,
  role: Type.Enum(Object.values(roles)),
  is_active: Type.Boolean(),
  is_admin: Type.Boolean(),
  is_owner: Type.Boolean(),
  is_guest: Type.Boolean(),
  is_bot: Type.Boolean(),
  bot_type: nullable(Type.Integer()),
  bot_owner_id: nullable(UserId),
};

/** Values of custom profile fields by field id (spec 2.6). */
const profileData = Type.Record(
  Type.String(),
  Type.Object({ value: OtherText, rendered_value: Type.Optional(RenderedText) }),
);

/** Uploaded by the user, or else the one that Gravatar has for the address. */
export const AvatarSource = Type.Enum(["U", "G"]);

/** Spec 2.6. */
export const User = Type.Object({ ...userFields, profile_data: Type.Optional(profileData) }, { title: "User" });

/** The user object without the profile. */
export type UserBody = Omit<DeepReadonly<Static<typeof User>>, "profile_data">;

/** Parameters for reading a single account, by id or by address. */
const oneUserParams = { client_gravatar: flag(true), include_custom_profile_fields: flag(false) };

export type ProfileDatum = Static<typeof ProfileDataElement>;

/** Spec 4.8. The actor checks whether the role is valid (D11). */
const updateParams = {
  full_name: Type.Optional(Type.String()),
  role: Type.Optional(Type.Integer()),
  profile_data: Type.Optional(Type.Array(ProfileDataElement, { maxItems: commonLimits.profile_values_per_update_max })),
  new_email: Type.Optional(Type.String()),
};

/** The account's real address if the caller may see it, or its dummy address (spec 4.8). */
const Address = Type.String({ maxLength: commonLimits.email_code_points_max });

export const createUser = defineEndpoint({
  operationId: "create-user",
  method: "POST",
  path: "/users",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Creates an account; organization administrators only.",
  params: {
    email: Type.String({ maxLength: commonLimits.email_code_points_max }),
    password: Type.String({ maxLength: commonLimits.password_bytes_max, secret: true }),
    full_name: Type.String(),
  },
  ok: { user_id: UserId },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const getOwnUser = defineEndpoint({
  operationId: "get-own-user",
  method: "GET",
  path: "/users/me",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns the caller's account.",
  params: {},
  ok: { ...userFields, max_message_id: marked(Type.Integer({ minimum: -1 }), "none"), profile_data: profileData },
  errors: [],
});

export const getUsers = defineEndpoint({
  operationId: "get-users",
  method: "GET",
  path: "/users",
  authentication: "optional",
  effectiveness: "read",
  tagged: true,
  summary: "Returns all users in the organization, or those with the given ids (spec 4.15).",
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
  summary: "Deactivates the caller's own account, unless the caller is the last owner or user.",
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
  summary: "Reactivates a deactivated account; only administrators, and owners of a bot.",
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
  summary: "Returns one account by id.",
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
  summary: "Returns one account, by its real address if the caller may see it, or by its dummy address.",
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
  summary:
    "Changes another account's name, role, profile or address (spec 4.8); only administrators, and owners of a bot.",
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
  summary: "Changes the account with the given address, like update-user (spec 4.8).",
  params: { email: Address, ...updateParams },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

const { is_active: _byList, ...shownFields } = User.properties;
const UsersInState = Type.Array(Type.Object(shownFields));

/** All users, and the account of the caller. */
const realmUser = {
  realm_users: UsersInState,
  realm_non_active_users: UsersInState,
  cross_realm_bots: NoItems,
  user_id: UserId,
  email: emailOf("user_id"),
  delivery_email: deliveryEmailOf("user_id"),
  full_name: fullNameOf("user_id"),
  avatar_source: AvatarSource,
  avatar_url: avatarOf("user_id"),
  avatar_url_medium: avatarOf("user_id"),
  is_admin: Type.Boolean(),
  is_owner: Type.Boolean(),
  is_moderator: Type.Boolean(),
  is_guest: Type.Boolean(),
  can_create_public_streams: Type.Boolean(),
  can_create_private_streams: Type.Boolean(),
  can_create_streams: Type.Boolean(),
  can_create_web_public_streams: Type.Boolean(),
  can_subscribe_other_users: Type.Boolean(),
  can_invite_others_to_realm: Type.Boolean(),
};

export interface UserRecord {
  readonly id: UserId;
  /** The real address, as entered. Compared case-insensitively. */
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  readonly isActive: boolean;
  readonly joinedAt: number;
  readonly timezone: string;
  /** null for people; 1 generic, 2 incoming webhook, 3 outgoing webhook, 4 embedded. */
  readonly botType: number | null;
  readonly botOwnerId: UserId | null;
  /** Incremented when the avatar changes; part of its URL. */
  readonly avatarVersion: number;
  /**
   * Only values that differ from the defaults (spec 2.3). The organization's defaults for new users are copied here
   * when they join.
   */
  readonly settings: Readonly<Record<string, unknown>>;
  /**
   * Path of the uploaded avatar below `/user_avatars/`: the realm id and the file name (schemas/files.ts); null: the
   * avatar derived from the address.
   */
  readonly avatarFile: string | null;
  /** Granted to individual owners on the command line (D7). */
  readonly canChangeUserEmails: boolean;
}

export interface CredentialRecord {
  readonly userId: UserId;
  /** Argon2id in PHC form (S2). */
  readonly passwordHash: string;
}

/**
 * The account to change: by id, or by an address as the caller sees it on the host name used in the request (spec 4.8).
 */
export type UserTarget = { readonly id: number } | { readonly address: string; readonly host: string };

/** Spec 4.8; null: keeps its value. */
export interface UserUpdate {
  readonly target: UserTarget;
  readonly fullName: string | null;
  /** Any number. Whether it is a valid role is decided in the turn (D11). */
  readonly role: number | null;
  readonly profileData: readonly ProfileValueChange[];
  readonly newEmail: string | null;
}

export interface UserDeactivation {
  readonly userId: UserId;
  /** null: no email; "": an email with the standard text only (spec 4.20). */
  readonly comment: string | null;
}

/** Parameters of its commands, by type. */
export interface UsersCommands {
  "user.create": {
    readonly email: string;
    readonly fullName: string;
    readonly passwordHash: string;
    readonly role: Role;
  };
  "user.deactivate-self": Record<string, never>;
  "user.reactivate": { readonly userId: UserId };
  "user.grant-email-changes": { readonly email: string; readonly isGranted: boolean };
  "user.update": UserUpdate;
  /** By the operator. */
  "user.set-role": { readonly userId: UserId; readonly role: Role };
  "user.deactivate": UserDeactivation;
}

/** Their replies, by type; other commands reply without fields. */
export interface UsersReplies {
  readonly "user.create": ResultOf<typeof createUser>;
}

export const usersArea = defineArea({
  endpoints: [
    createUser,
    getOwnUser,
    getUsers,
    deactivateUser,
    deactivateOwnUser,
    reactivateUser,
    getUser,
    getUserByEmail,
    updateUser,
    updateUserByEmail,
  ],
  commands: defineCommands<UsersCommands, UsersReplies>(),
  state: { realm_user: realmUser },
  tables: {
    users: defineTable<UserId, UserRecord>({
      fields: [
        "id",
        "email",
        "fullName",
        "role",
        "isActive",
        "joinedAt",
        "timezone",
        "botType",
        "botOwnerId",
        "avatarVersion",
        "settings",
        "avatarFile",
        "canChangeUserEmails",
      ],
      dates: ["joinedAt"],
    }),
    credentials: defineTable<UserId, CredentialRecord>({
      fields: ["userId", "passwordHash"],
    }),
  },
  counters: ["user"],
  limits,
});
