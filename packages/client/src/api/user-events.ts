/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { Bot, BotService, GroupValue, ProfileField, User, UserGroup } from "./types.ts";
export interface UserEvents {
  realm_user:
    | { readonly type: "realm_user"; readonly id: number; readonly op: "add"; readonly person: User }
    | {
        readonly type: "realm_user";
        readonly id: number;
        readonly op: "remove";
        readonly person: { readonly user_id: number; readonly full_name: string };
      }
    | {
        readonly type: "realm_user";
        readonly id: number;
        readonly op: "update";
        readonly person:
          | { readonly user_id: number; readonly full_name: string }
          | { readonly user_id: number; readonly role: 100 | 200 | 300 | 400 | 600 }
          | { readonly user_id: number; readonly is_active: boolean }
          | { readonly user_id: number; readonly bot_owner_id: number | null }
          | {
              readonly user_id: number;
              readonly custom_profile_field: {
                readonly id: number;
                readonly value: string | null;
                readonly rendered_value?: string;
              };
            }
          | { readonly user_id: number; readonly delivery_email: string | null }
          | { readonly user_id: number; readonly new_email: string }
          | { readonly user_id: number; readonly email: string; readonly timezone: string }
          | {
              readonly user_id: number;
              readonly avatar_source: "U" | "G";
              readonly avatar_url: string | null;
              readonly avatar_url_medium: string | null;
              readonly avatar_version: number;
            };
      };
  realm_bot:
    | { readonly type: "realm_bot"; readonly id: number; readonly op: "add"; readonly bot: Bot }
    | {
        readonly type: "realm_bot";
        readonly id: number;
        readonly op: "update";
        readonly bot: {
          readonly user_id: number;
          readonly email?: string;
          readonly full_name?: string;
          readonly bot_type?: number | null;
          readonly is_active?: boolean;
          readonly api_key?: "";
          readonly avatar_url?: string | null;
          readonly owner_id?: number | null;
          readonly default_sending_stream?: string | null;
          readonly default_events_register_stream?: string | null;
          readonly default_all_public_streams?: boolean;
          readonly services?: readonly BotService[];
        };
      }
    | {
        readonly type: "realm_bot";
        readonly id: number;
        readonly op: "delete";
        readonly bot: { readonly user_id: number };
      };
  user_group:
    | { readonly type: "user_group"; readonly id: number; readonly op: "add"; readonly group: UserGroup }
    | { readonly type: "user_group"; readonly id: number; readonly op: "remove"; readonly group_id: number }
    | {
        readonly type: "user_group";
        readonly id: number;
        readonly op: "update";
        readonly group_id: number;
        readonly data: {
          readonly name?: string;
          readonly description?: string;
          readonly deactivated?: boolean;
          readonly can_add_members_group?: GroupValue;
          readonly can_join_group?: GroupValue;
          readonly can_leave_group?: GroupValue;
          readonly can_manage_group?: GroupValue;
          readonly can_mention_group?: GroupValue;
          readonly can_remove_members_group?: GroupValue;
        };
      }
    | {
        readonly type: "user_group";
        readonly id: number;
        readonly op: "add_members";
        readonly group_id: number;
        readonly user_ids: readonly number[];
      }
    | {
        readonly type: "user_group";
        readonly id: number;
        readonly op: "remove_members";
        readonly group_id: number;
        readonly user_ids: readonly number[];
      }
    | {
        readonly type: "user_group";
        readonly id: number;
        readonly op: "add_subgroups";
        readonly group_id: number;
        readonly direct_subgroup_ids: readonly number[];
      }
    | {
        readonly type: "user_group";
        readonly id: number;
        readonly op: "remove_subgroups";
        readonly group_id: number;
        readonly direct_subgroup_ids: readonly number[];
      };
  user_status: {
    readonly type: "user_status";
    readonly id: number;
    readonly user_id: number;
    readonly away?: boolean;
    readonly status_text?: string;
    readonly emoji_name?: string;
    readonly emoji_code?: string;
    readonly reaction_type?: "unicode_emoji" | "realm_emoji" | "service_extra_emoji" | "zulip_extra_emoji";
  };
  presence:
    | {
        readonly type: "presence";
        readonly id: number;
        readonly presences: Readonly<
          Record<string, { readonly active_timestamp: number; readonly idle_timestamp: number }>
        >;
      }
    | {
        readonly type: "presence";
        readonly id: number;
        readonly user_id: number;
        readonly email?: string;
        readonly server_timestamp: number;
        readonly presence: {
          readonly website: {
            readonly client: "website";
            readonly status: "active" | "idle";
            readonly timestamp: number;
            readonly pushable: boolean;
          };
        };
      };
  custom_profile_fields: {
    readonly type: "custom_profile_fields";
    readonly id: number;
    readonly fields: readonly ProfileField[];
  };
}
