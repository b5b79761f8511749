/** Generated from schemas/ by `npm run client:api`; do not edit. */
export type UserSettings = {
  readonly twenty_four_hour_time: boolean;
  readonly starred_message_counts: boolean;
  readonly fluid_layout_width: boolean;
  readonly high_contrast_mode: boolean;
  readonly color_scheme: 1 | 2 | 3;
  readonly enable_drafts_synchronization: boolean;
  readonly translate_emoticons: boolean;
  readonly default_language:
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
  readonly web_home_view: "recent_topics" | "inbox" | "all_messages";
  readonly left_side_userlist: boolean;
  readonly emojiset: "google" | "twitter" | "text";
  readonly demote_inactive_streams: 1 | 2 | 3;
  readonly enter_sends: boolean;
  readonly timezone: string;
  readonly enable_stream_desktop_notifications: boolean;
  readonly enable_stream_email_notifications: boolean;
  readonly enable_stream_push_notifications: boolean;
  readonly enable_stream_audible_notifications: boolean;
  readonly notification_sound:
    | "ascend"
    | "beep_boop"
    | "bink"
    | "bright"
    | "brlip"
    | "chime"
    | "deep tom"
    | "ding"
    | "double tap"
    | "down"
    | "dry bongos"
    | "dutdut"
    | "fast ascend"
    | "flute"
    | "friendly"
    | "kick roll"
    | "loud tintong"
    | "metallic snare"
    | "pan"
    | "shaker"
    | "simple"
    | "stairs"
    | "subtle"
    | "swish"
    | "tintong"
    | "up"
    | "wood block"
    | "zaping"
    | "zing"
    | "zulip"
    | "none";
  readonly enable_desktop_notifications: boolean;
  readonly enable_sounds: boolean;
  readonly email_notifications_batching_period_seconds: number;
  readonly enable_offline_email_notifications: boolean;
  readonly enable_offline_push_notifications: boolean;
  readonly enable_online_push_notifications: boolean;
  readonly enable_digest_emails: boolean;
  readonly enable_marketing_emails: boolean;
  readonly enable_login_emails: boolean;
  readonly message_content_in_email_notifications: boolean;
  readonly pm_content_in_desktop_notifications: boolean;
  readonly wildcard_mentions_notify: boolean;
  readonly desktop_icon_count_display: 1 | 2 | 3 | 4;
  readonly realm_name_in_email_notifications_policy: 1 | 2 | 3;
  readonly presence_enabled: boolean;
  readonly web_channel_default_view: 1 | 2 | 3 | 4;
  readonly receives_typing_notifications: boolean;
  readonly web_suggest_update_timezone: boolean;
  readonly web_font_size_px: number;
  readonly web_line_height_percent: number;
  readonly display_emoji_reaction_users: boolean;
  readonly web_escape_navigates_to_home_view: boolean;
  readonly user_list_style: 1 | 2 | 3;
  readonly web_animate_image_previews: "always" | "on_hover" | "never";
  readonly web_stream_unreads_count_display_policy: 1 | 2 | 3;
  readonly hide_ai_features: boolean;
  readonly enable_followed_topic_desktop_notifications: boolean;
  readonly enable_followed_topic_email_notifications: boolean;
  readonly enable_followed_topic_push_notifications: boolean;
  readonly enable_followed_topic_audible_notifications: boolean;
  readonly enable_followed_topic_wildcard_mentions_notify: boolean;
  readonly automatically_follow_topics_policy: 1 | 2 | 3 | 4;
  readonly automatically_unmute_topics_in_muted_streams_policy: 1 | 2 | 3 | 4;
  readonly automatically_follow_topics_where_mentioned: boolean;
  readonly resolved_topic_notice_auto_read_policy: "always" | "except_followed" | "never";
  readonly send_private_typing_notifications: boolean;
  readonly send_stream_typing_notifications: boolean;
  readonly send_read_receipts: boolean;
  readonly email_address_visibility: 1 | 2 | 3 | 4 | 5;
  readonly web_navigate_to_sent_message: boolean;
  readonly web_mark_read_on_scroll_policy: 1 | 2 | 3;
  readonly web_inbox_show_channel_folders: boolean;
  readonly web_left_sidebar_show_channel_folders: boolean;
  readonly web_left_sidebar_unreads_count_summary: boolean;
  readonly allow_private_data_export: boolean;
  readonly emojiset_choices: readonly { readonly key: string; readonly text: string }[];
  readonly available_notification_sounds: readonly string[];
};
