/** Generated from schemas/ by `npm run client:api`; do not edit. */

import type { UserSettings } from "./type-user-settings.ts";
import type { UserSettingsChange } from "./type-user-settings-change.ts";
import type { UserSettingsDefaults } from "./type-user-settings-defaults.ts";
import type { UserSettingsDefaultsChange } from "./type-user-settings-defaults-change.ts";
export interface SettingsOperations {
  /** Changes the caller's own settings. */
  "PATCH /settings": {
    readonly params: UserSettingsChange;
    readonly result: { readonly server_sends_email?: boolean };
  };
  /** Deprecated: alias of update-settings. */
  "PATCH /settings/display": {
    readonly params: UserSettingsChange;
    readonly result: { readonly server_sends_email?: boolean };
  };
  /** Deprecated: alias of update-settings. */
  "PATCH /settings/notifications": {
    readonly params: UserSettingsChange;
    readonly result: { readonly server_sends_email?: boolean };
  };
  /** Changes the default settings of new users; organization administrators only. */
  "PATCH /realm/user_settings_defaults": {
    readonly params: UserSettingsDefaultsChange;
    readonly result: Readonly<Record<never, never>>;
  };
}

export interface SettingsEvents {
  user_settings: {
    readonly type: "user_settings";
    readonly id: number;
    readonly op: "update";
    readonly property: string;
    readonly value: boolean | number | string | null;
    readonly language_name?: string;
  };
  update_display_settings: {
    readonly type: "update_display_settings";
    readonly id: number;
    readonly setting_name: string;
    readonly user: string;
    readonly setting: boolean | number | string | null;
    readonly language_name?: string;
  };
  update_global_notifications: {
    readonly type: "update_global_notifications";
    readonly id: number;
    readonly notification_name: string;
    readonly user: string;
    readonly setting: boolean | number | string | null;
    readonly language_name?: string;
  };
  realm_user_settings_defaults: {
    readonly type: "realm_user_settings_defaults";
    readonly id: number;
    readonly op: "update";
    readonly property: string;
    readonly value: boolean | number | string | null;
  };
}

export interface SettingsState {
  readonly user_settings?: UserSettings;
  readonly realm_user_settings_defaults?: UserSettingsDefaults;
  readonly twenty_four_hour_time?: boolean;
  readonly starred_message_counts?: boolean;
  readonly fluid_layout_width?: boolean;
  readonly high_contrast_mode?: boolean;
  readonly color_scheme?: 1 | 2 | 3;
  readonly enable_drafts_synchronization?: boolean;
  readonly translate_emoticons?: boolean;
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
  readonly web_home_view?: "recent_topics" | "inbox" | "all_messages";
  readonly left_side_userlist?: boolean;
  readonly emojiset?: "google" | "twitter" | "text";
  readonly demote_inactive_streams?: 1 | 2 | 3;
  readonly enter_sends?: boolean;
  readonly timezone?: string;
  readonly emojiset_choices?: readonly { readonly key: string; readonly text: string }[];
  readonly enable_stream_desktop_notifications?: boolean;
  readonly enable_stream_email_notifications?: boolean;
  readonly enable_stream_push_notifications?: boolean;
  readonly enable_stream_audible_notifications?: boolean;
  readonly notification_sound?:
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
  readonly enable_desktop_notifications?: boolean;
  readonly enable_sounds?: boolean;
  readonly email_notifications_batching_period_seconds?: number;
  readonly enable_offline_email_notifications?: boolean;
  readonly enable_offline_push_notifications?: boolean;
  readonly enable_online_push_notifications?: boolean;
  readonly enable_digest_emails?: boolean;
  readonly enable_marketing_emails?: boolean;
  readonly enable_login_emails?: boolean;
  readonly message_content_in_email_notifications?: boolean;
  readonly pm_content_in_desktop_notifications?: boolean;
  readonly wildcard_mentions_notify?: boolean;
  readonly desktop_icon_count_display?: 1 | 2 | 3 | 4;
  readonly realm_name_in_email_notifications_policy?: 1 | 2 | 3;
  readonly presence_enabled?: boolean;
  readonly available_notification_sounds?: readonly string[];
}
