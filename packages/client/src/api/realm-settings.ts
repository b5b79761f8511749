/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { GroupSettingChange, GroupValue } from "./types.ts";
export interface RealmSettingsOperations {
  /** Changes settings and permissions of the organization; administrators only, some of them owners only. */
  "PATCH /realm": {
    readonly params: {
      readonly name?: string;
      readonly description?: string;
      readonly org_type?: 0 | 10 | 20 | 30 | 35 | 40 | 50 | 60 | 70 | 80 | 90 | 100 | 1000;
      readonly default_language?:
        | "ar"
        | "be"
        | "bg"
        | "bn"
        | "bqi"
        | "ca"
        | "cs"
        | "cy"
        | "da"
        | "de"
        | "el"
        | "en"
        | "en-gb"
        | "eo"
        | "es"
        | "et"
        | "fa"
        | "fi"
        | "fr"
        | "gl"
        | "gu"
        | "hi"
        | "hu"
        | "id"
        | "it"
        | "ja"
        | "kk"
        | "ko"
        | "lt"
        | "lv"
        | "ml"
        | "mn"
        | "my"
        | "nb-no"
        | "nl"
        | "no"
        | "pl"
        | "pt"
        | "pt-br"
        | "pt-pt"
        | "ro"
        | "ru"
        | "si"
        | "sl"
        | "sr"
        | "sv"
        | "ta"
        | "tl"
        | "tr"
        | "uk"
        | "vi"
        | "zh-hans"
        | "zh-hant"
        | "zh-tw";
      readonly search_language?:
        | "none"
        | "danish"
        | "dutch"
        | "english"
        | "finnish"
        | "french"
        | "german"
        | "hungarian"
        | "italian"
        | "norwegian"
        | "portuguese"
        | "romanian"
        | "russian"
        | "spanish"
        | "swedish"
        | "turkish";
      readonly want_advertise_in_communities_directory?: boolean;
      readonly welcome_message_custom_text?: string;
      readonly invite_required?: boolean;
      readonly emails_restricted_to_domains?: boolean;
      readonly disallow_disposable_email_addresses?: boolean;
      readonly waiting_period_threshold?: number;
      readonly require_unique_names?: boolean;
      readonly name_changes_disabled?: boolean;
      readonly email_changes_disabled?: boolean;
      readonly avatar_changes_disabled?: boolean;
      readonly enable_guest_user_indicator?: boolean;
      readonly enable_guest_user_dm_warning?: boolean;
      readonly enable_spectator_access?: boolean;
      readonly topics_policy?: "allow_empty_topic" | "disable_empty_topic";
      readonly allow_message_editing?: boolean;
      readonly message_content_edit_limit_seconds?: number | string;
      readonly message_content_delete_limit_seconds?: number | string;
      readonly move_messages_within_stream_limit_seconds?: number | string;
      readonly move_messages_between_streams_limit_seconds?: number | string;
      readonly message_edit_history_visibility_policy?: "all" | "moves" | "none";
      readonly message_retention_days?: number | string;
      readonly enable_read_receipts?: boolean;
      readonly send_channel_events_messages?: boolean;
      readonly inline_image_preview?: boolean;
      readonly inline_url_embed_preview?: boolean;
      readonly default_code_block_language?: string;
      readonly new_stream_announcements_stream_id?: number;
      readonly signup_announcements_stream_id?: number;
      readonly zulip_update_announcements_stream_id?: number;
      readonly moderation_request_channel_id?: number;
      readonly digest_emails_enabled?: boolean;
      readonly digest_weekday?: 0 | 1 | 2 | 3 | 4 | 5 | 6;
      readonly send_welcome_emails?: boolean;
      readonly message_content_allowed_in_email_notifications?: boolean;
      readonly require_e2ee_push_notifications?: boolean;
      readonly video_chat_provider?: 0 | 1;
      readonly jitsi_server_url?: string;
      readonly giphy_rating?: 0 | 1 | 2 | 3 | 4 | 5;
      readonly create_multiuse_invite_group?: GroupSettingChange;
      readonly can_access_all_users_group?: GroupSettingChange;
      readonly can_add_custom_emoji_group?: GroupSettingChange;
      readonly can_add_subscribers_group?: GroupSettingChange;
      readonly can_create_bots_group?: GroupSettingChange;
      readonly can_create_groups?: GroupSettingChange;
      readonly can_create_private_channel_group?: GroupSettingChange;
      readonly can_create_public_channel_group?: GroupSettingChange;
      readonly can_create_web_public_channel_group?: GroupSettingChange;
      readonly can_create_write_only_bots_group?: GroupSettingChange;
      readonly can_delete_any_message_group?: GroupSettingChange;
      readonly can_delete_own_message_group?: GroupSettingChange;
      readonly can_invite_users_group?: GroupSettingChange;
      readonly can_manage_all_groups?: GroupSettingChange;
      readonly can_manage_billing_group?: GroupSettingChange;
      readonly can_mention_many_users_group?: GroupSettingChange;
      readonly can_move_messages_between_channels_group?: GroupSettingChange;
      readonly can_move_messages_between_topics_group?: GroupSettingChange;
      readonly can_resolve_topics_group?: GroupSettingChange;
      readonly can_set_delete_message_policy_group?: GroupSettingChange;
      readonly can_set_topics_policy_group?: GroupSettingChange;
      readonly can_summarize_topics_group?: GroupSettingChange;
      readonly direct_message_initiator_group?: GroupSettingChange;
      readonly direct_message_permission_group?: GroupSettingChange;
    };
    readonly result: Readonly<Record<never, never>>;
  };
}

export interface RealmSettingsEvents {
  realm:
    | {
        readonly type: "realm";
        readonly id: number;
        readonly op: "update_dict";
        readonly property: "default";
        readonly data: {
          readonly name?: string;
          readonly description?: string;
          readonly org_type?: 0 | 10 | 20 | 30 | 35 | 40 | 50 | 60 | 70 | 80 | 90 | 100 | 1000;
          readonly default_language?:
            | "ar"
            | "be"
            | "bg"
            | "bn"
            | "bqi"
            | "ca"
            | "cs"
            | "cy"
            | "da"
            | "de"
            | "el"
            | "en"
            | "en-gb"
            | "eo"
            | "es"
            | "et"
            | "fa"
            | "fi"
            | "fr"
            | "gl"
            | "gu"
            | "hi"
            | "hu"
            | "id"
            | "it"
            | "ja"
            | "kk"
            | "ko"
            | "lt"
            | "lv"
            | "ml"
            | "mn"
            | "my"
            | "nb-no"
            | "nl"
            | "no"
            | "pl"
            | "pt"
            | "pt-br"
            | "pt-pt"
            | "ro"
            | "ru"
            | "si"
            | "sl"
            | "sr"
            | "sv"
            | "ta"
            | "tl"
            | "tr"
            | "uk"
            | "vi"
            | "zh-hans"
            | "zh-hant"
            | "zh-tw";
          readonly search_language?:
            | "none"
            | "danish"
            | "dutch"
            | "english"
            | "finnish"
            | "french"
            | "german"
            | "hungarian"
            | "italian"
            | "norwegian"
            | "portuguese"
            | "romanian"
            | "russian"
            | "spanish"
            | "swedish"
            | "turkish";
          readonly want_advertise_in_communities_directory?: boolean;
          readonly welcome_message_custom_text?: string;
          readonly invite_required?: boolean;
          readonly emails_restricted_to_domains?: boolean;
          readonly disallow_disposable_email_addresses?: boolean;
          readonly waiting_period_threshold?: number;
          readonly require_unique_names?: boolean;
          readonly name_changes_disabled?: boolean;
          readonly email_changes_disabled?: boolean;
          readonly avatar_changes_disabled?: boolean;
          readonly enable_guest_user_indicator?: boolean;
          readonly enable_guest_user_dm_warning?: boolean;
          readonly enable_spectator_access?: boolean;
          readonly topics_policy?: "allow_empty_topic" | "disable_empty_topic";
          readonly empty_topic_display_name?: string;
          readonly allow_message_editing?: boolean;
          readonly message_content_edit_limit_seconds?: number | null;
          readonly message_content_delete_limit_seconds?: number | null;
          readonly move_messages_within_stream_limit_seconds?: number | null;
          readonly move_messages_between_streams_limit_seconds?: number | null;
          readonly message_edit_history_visibility_policy?: "all" | "moves" | "none";
          readonly message_retention_days?: number;
          readonly enable_read_receipts?: boolean;
          readonly send_channel_events_messages?: boolean;
          readonly inline_image_preview?: boolean;
          readonly inline_url_embed_preview?: boolean;
          readonly default_code_block_language?: string;
          readonly new_stream_announcements_stream_id?: number;
          readonly signup_announcements_stream_id?: number;
          readonly zulip_update_announcements_stream_id?: number;
          readonly moderation_request_channel_id?: number;
          readonly digest_emails_enabled?: boolean;
          readonly digest_weekday?: 0 | 1 | 2 | 3 | 4 | 5 | 6;
          readonly send_welcome_emails?: boolean;
          readonly message_content_allowed_in_email_notifications?: boolean;
          readonly require_e2ee_push_notifications?: boolean;
          readonly video_chat_provider?: 0 | 1;
          readonly jitsi_server_url?: string | null;
          readonly giphy_rating?: 0 | 1 | 2 | 3 | 4 | 5;
          readonly create_multiuse_invite_group?: GroupValue;
          readonly can_access_all_users_group?: GroupValue;
          readonly can_add_custom_emoji_group?: GroupValue;
          readonly can_add_subscribers_group?: GroupValue;
          readonly can_create_bots_group?: GroupValue;
          readonly can_create_groups?: GroupValue;
          readonly can_create_private_channel_group?: GroupValue;
          readonly can_create_public_channel_group?: GroupValue;
          readonly can_create_web_public_channel_group?: GroupValue;
          readonly can_create_write_only_bots_group?: GroupValue;
          readonly can_delete_any_message_group?: GroupValue;
          readonly can_delete_own_message_group?: GroupValue;
          readonly can_invite_users_group?: GroupValue;
          readonly can_manage_all_groups?: GroupValue;
          readonly can_manage_billing_group?: GroupValue;
          readonly can_mention_many_users_group?: GroupValue;
          readonly can_move_messages_between_channels_group?: GroupValue;
          readonly can_move_messages_between_topics_group?: GroupValue;
          readonly can_resolve_topics_group?: GroupValue;
          readonly can_set_delete_message_policy_group?: GroupValue;
          readonly can_set_topics_policy_group?: GroupValue;
          readonly can_summarize_topics_group?: GroupValue;
          readonly direct_message_initiator_group?: GroupValue;
          readonly direct_message_permission_group?: GroupValue;
          readonly mandatory_topics?: boolean;
        };
      }
    | {
        readonly type: "realm";
        readonly id: number;
        readonly op: "update_dict";
        readonly property: "icon";
        readonly data: { readonly icon_url: string; readonly icon_source: "G" | "D" | "U" };
      }
    | {
        readonly type: "realm";
        readonly id: number;
        readonly op: "update_dict";
        readonly property: "logo";
        readonly data: { readonly logo_url: string; readonly logo_source: "G" | "D" | "U" };
      }
    | {
        readonly type: "realm";
        readonly id: number;
        readonly op: "update_dict";
        readonly property: "night_logo";
        readonly data: { readonly night_logo_url: string; readonly night_logo_source: "G" | "D" | "U" };
      }
    | { readonly type: "realm"; readonly id: number; readonly op: "deactivated"; readonly realm_id: number };
}
