/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { GroupValue, PermissionSetting } from "./types.ts";
export interface RealmState {
  readonly realm_name?: string;
  readonly realm_description?: string;
  readonly realm_org_type?: 0 | 10 | 20 | 30 | 35 | 40 | 50 | 60 | 70 | 80 | 90 | 100 | 1000;
  readonly realm_default_language?:
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
  readonly realm_search_language?:
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
  readonly realm_want_advertise_in_communities_directory?: boolean;
  readonly realm_welcome_message_custom_text?: string;
  readonly realm_invite_required?: boolean;
  readonly realm_emails_restricted_to_domains?: boolean;
  readonly realm_disallow_disposable_email_addresses?: boolean;
  readonly realm_waiting_period_threshold?: number;
  readonly realm_require_unique_names?: boolean;
  readonly realm_name_changes_disabled?: boolean;
  readonly realm_email_changes_disabled?: boolean;
  readonly realm_avatar_changes_disabled?: boolean;
  readonly realm_enable_guest_user_indicator?: boolean;
  readonly realm_enable_guest_user_dm_warning?: boolean;
  readonly realm_enable_spectator_access?: boolean;
  readonly realm_topics_policy?: "allow_empty_topic" | "disable_empty_topic";
  readonly realm_empty_topic_display_name?: string;
  readonly realm_allow_message_editing?: boolean;
  readonly realm_message_content_edit_limit_seconds?: number | null;
  readonly realm_message_content_delete_limit_seconds?: number | null;
  readonly realm_move_messages_within_stream_limit_seconds?: number | null;
  readonly realm_move_messages_between_streams_limit_seconds?: number | null;
  readonly realm_message_edit_history_visibility_policy?: "all" | "moves" | "none";
  readonly realm_message_retention_days?: number;
  readonly realm_enable_read_receipts?: boolean;
  readonly realm_send_channel_events_messages?: boolean;
  readonly realm_inline_image_preview?: boolean;
  readonly realm_inline_url_embed_preview?: boolean;
  readonly realm_default_code_block_language?: string;
  readonly realm_new_stream_announcements_stream_id?: number;
  readonly realm_signup_announcements_stream_id?: number;
  readonly realm_zulip_update_announcements_stream_id?: number;
  readonly realm_moderation_request_channel_id?: number;
  readonly realm_digest_emails_enabled?: boolean;
  readonly realm_digest_weekday?: 0 | 1 | 2 | 3 | 4 | 5 | 6;
  readonly realm_send_welcome_emails?: boolean;
  readonly realm_message_content_allowed_in_email_notifications?: boolean;
  readonly realm_require_e2ee_push_notifications?: boolean;
  readonly realm_video_chat_provider?: 0 | 1;
  readonly realm_jitsi_server_url?: string | null;
  readonly realm_giphy_rating?: 0 | 1 | 2 | 3 | 4 | 5;
  readonly realm_create_multiuse_invite_group?: GroupValue;
  readonly realm_can_access_all_users_group?: GroupValue;
  readonly realm_can_add_custom_emoji_group?: GroupValue;
  readonly realm_can_add_subscribers_group?: GroupValue;
  readonly realm_can_create_bots_group?: GroupValue;
  readonly realm_can_create_groups?: GroupValue;
  readonly realm_can_create_private_channel_group?: GroupValue;
  readonly realm_can_create_public_channel_group?: GroupValue;
  readonly realm_can_create_web_public_channel_group?: GroupValue;
  readonly realm_can_create_write_only_bots_group?: GroupValue;
  readonly realm_can_delete_any_message_group?: GroupValue;
  readonly realm_can_delete_own_message_group?: GroupValue;
  readonly realm_can_invite_users_group?: GroupValue;
  readonly realm_can_manage_all_groups?: GroupValue;
  readonly realm_can_manage_billing_group?: GroupValue;
  readonly realm_can_mention_many_users_group?: GroupValue;
  readonly realm_can_move_messages_between_channels_group?: GroupValue;
  readonly realm_can_move_messages_between_topics_group?: GroupValue;
  readonly realm_can_resolve_topics_group?: GroupValue;
  readonly realm_can_set_delete_message_policy_group?: GroupValue;
  readonly realm_can_set_topics_policy_group?: GroupValue;
  readonly realm_can_summarize_topics_group?: GroupValue;
  readonly realm_direct_message_initiator_group?: GroupValue;
  readonly realm_direct_message_permission_group?: GroupValue;
  readonly realm_icon_url?: string;
  readonly realm_icon_source?: "G" | "D" | "U";
  readonly realm_logo_url?: string;
  readonly realm_logo_source?: "G" | "D" | "U";
  readonly realm_night_logo_url?: string;
  readonly realm_night_logo_source?: "G" | "D" | "U";
  readonly max_file_upload_size_mib?: number;
  readonly max_stream_name_length?: number;
  readonly max_stream_description_length?: number;
  readonly max_channel_folder_name_length?: number;
  readonly max_channel_folder_description_length?: number;
  readonly max_bulk_new_subscription_messages?: number;
  readonly max_topic_length?: number;
  readonly max_message_length?: number;
  readonly max_reminder_note_length?: number;
  readonly max_avatar_file_size_mib?: number;
  readonly max_icon_file_size_mib?: number;
  readonly max_logo_file_size_mib?: number;
  readonly password_min_length?: number;
  readonly password_max_length?: number;
  readonly password_min_guesses?: number;
  readonly server_presence_ping_interval_seconds?: number;
  readonly server_presence_offline_threshold_seconds?: number;
  readonly server_typing_started_expiry_period_milliseconds?: number;
  readonly server_typing_stopped_wait_period_milliseconds?: number;
  readonly server_typing_started_wait_period_milliseconds?: number;
  readonly event_queue_longpoll_timeout_seconds?: number;
  readonly server_emoji_data_url?: string;
  readonly server_generation?: number;
  readonly server_web_public_streams_enabled?: boolean;
  readonly server_sends_email?: boolean;
  readonly server_supported_permission_settings?: {
    readonly realm: Readonly<Record<string, PermissionSetting>>;
    readonly stream: Readonly<Record<string, PermissionSetting>>;
    readonly group: Readonly<Record<string, PermissionSetting>>;
  };
  readonly server_jitsi_server_url?: string;
  readonly jitsi_server_url?: string;
  readonly server_name_changes_disabled?: boolean;
  readonly server_avatar_changes_disabled?: boolean;
  readonly server_inline_image_preview?: boolean;
  readonly server_inline_url_embed_preview?: boolean;
  readonly server_thumbnail_formats?: readonly {
    readonly name: string;
    readonly max_width: number;
    readonly max_height: number;
    readonly format: string;
    readonly animated: boolean;
  }[];
  readonly server_can_summarize_topics?: boolean;
  readonly settings_send_digest_emails?: boolean;
  readonly server_min_deactivated_realm_deletion_days?: null;
  readonly server_max_deactivated_realm_deletion_days?: null;
  readonly server_needs_upgrade?: boolean;
  readonly development_environment?: boolean;
  readonly giphy_rating_options?: Readonly<Record<string, { readonly name: string; readonly id: number }>>;
  readonly zulip_plan_is_not_limited?: boolean;
  readonly upgrade_text_for_wide_organization_logo?: string;
  readonly realm_url?: string;
  readonly realm_uri?: string;
  readonly realm_upload_quota_mib?: number | null;
  readonly realm_bot_domain?: string;
  readonly realm_date_created?: number;
  readonly realm_default_external_accounts?: Readonly<
    Record<
      string,
      { readonly text: string; readonly name: string; readonly hint: string; readonly url_pattern: string }
    >
  >;
  readonly realm_available_video_chat_providers?: Readonly<
    Record<string, { readonly name: string; readonly id: number }>
  >;
  readonly realm_authentication_methods?: {
    readonly Email: { readonly enabled: boolean; readonly available: boolean };
  };
  readonly realm_email_auth_enabled?: boolean;
  readonly realm_password_auth_enabled?: boolean;
  readonly realm_is_zephyr_mirror_realm?: boolean;
  readonly realm_mandatory_topics?: boolean;
  readonly realm_allow_edit_history?: boolean;
  readonly realm_presence_disabled?: boolean;
  readonly realm_plan_type?: number;
  readonly realm_push_notifications_enabled?: boolean;
  readonly realm_push_notifications_enabled_end_timestamp?: null;
  readonly realm_create_public_stream_policy?: number;
  readonly realm_create_private_stream_policy?: number;
  readonly realm_create_web_public_stream_policy?: number;
  readonly realm_wildcard_mention_policy?: number;
}
