/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { ProfileDataElement, RegisteredUser, User } from "./types.ts";
export interface UsersOperations {
  /** Creates an account; organization administrators only. */
  "POST /users": {
    readonly params: { readonly email: string; readonly password: string; readonly full_name: string };
    readonly result: { readonly user_id: number };
  };
  /** Returns the caller's account. */
  "GET /users/me": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: {
      readonly user_id: number;
      readonly email: string;
      readonly delivery_email: string | null;
      readonly full_name: string;
      readonly avatar_url: string | null;
      readonly avatar_version: number;
      readonly date_joined: string;
      readonly timezone: string;
      readonly role: 100 | 200 | 300 | 400 | 600;
      readonly is_active: boolean;
      readonly is_admin: boolean;
      readonly is_owner: boolean;
      readonly is_guest: boolean;
      readonly is_bot: boolean;
      readonly bot_type: number | null;
      readonly bot_owner_id: number | null;
      readonly max_message_id: number;
      readonly profile_data: Readonly<Record<string, { readonly value: string; readonly rendered_value?: string }>>;
    };
  };
  /** Returns all users in the organization, or those with the given ids (spec 4.15). */
  "GET /users": {
    readonly params: {
      readonly client_gravatar?: boolean;
      readonly include_custom_profile_fields?: boolean;
      readonly user_ids?: readonly number[];
    };
    readonly result: { readonly members: readonly User[] };
  };
  /** Deactivates an account (spec 4.20); organization administrators only. */
  "DELETE /users/{user_id}": {
    readonly params: { readonly user_id: number; readonly deactivation_notification_comment?: string };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Deactivates the caller's own account, unless the caller is the last owner or user. */
  "DELETE /users/me": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: Readonly<Record<never, never>>;
  };
  /** Reactivates a deactivated account; only administrators, and owners of a bot. */
  "POST /users/{user_id}/reactivate": {
    readonly params: { readonly user_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Returns one account by id. */
  "GET /users/{user_id}": {
    readonly params: {
      readonly user_id: number;
      readonly client_gravatar?: boolean;
      readonly include_custom_profile_fields?: boolean;
    };
    readonly result: { readonly user: User };
  };
  /** Returns one account, by its real address if the caller may see it, or by its dummy address. */
  "GET /users/{email}": {
    readonly params: {
      readonly email: string;
      readonly client_gravatar?: boolean;
      readonly include_custom_profile_fields?: boolean;
    };
    readonly result: { readonly user: User };
  };
  /** Changes another account's name, role, profile or address (spec 4.8); only administrators, and owners of a bot. */
  "PATCH /users/{user_id}": {
    readonly params: {
      readonly user_id: number;
      readonly full_name?: string;
      readonly role?: number;
      readonly profile_data?: readonly ProfileDataElement[];
      readonly new_email?: string;
    };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Changes the account with the given address, like update-user (spec 4.8). */
  "PATCH /users/{email}": {
    readonly params: {
      readonly email: string;
      readonly full_name?: string;
      readonly role?: number;
      readonly profile_data?: readonly ProfileDataElement[];
      readonly new_email?: string;
    };
    readonly result: Readonly<Record<never, never>>;
  };
}

export interface UsersState {
  readonly realm_users?: readonly RegisteredUser[];
  readonly realm_non_active_users?: readonly RegisteredUser[];
  readonly cross_realm_bots?: readonly string[];
  readonly user_id?: number;
  readonly email?: string;
  readonly delivery_email?: string | null;
  readonly full_name?: string;
  readonly avatar_source?: "U" | "G";
  readonly avatar_url?: string | null;
  readonly avatar_url_medium?: string | null;
  readonly is_admin?: boolean;
  readonly is_owner?: boolean;
  readonly is_moderator?: boolean;
  readonly is_guest?: boolean;
  readonly can_create_public_streams?: boolean;
  readonly can_create_private_streams?: boolean;
  readonly can_create_streams?: boolean;
  readonly can_create_web_public_streams?: boolean;
  readonly can_subscribe_other_users?: boolean;
  readonly can_invite_others_to_realm?: boolean;
}
