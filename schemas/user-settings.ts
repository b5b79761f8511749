/**
 * User settings (spec 2.3 and behaviour 2.1, 2.2): one row per setting. Parameters, storage, events, the sections of
 * POST /register and the reference (user-settings.md) are derived from these rows, so a new setting needs only a row.
 * The defaults are those of the public server; a user's row stores only values that differ from them.
 */
import { languages } from "./languages.ts";
import { between, flag, oneOf, personal, rowsOf, text, type UserSetting } from "./setting-rows.ts";

export const userSettingLimits = {
  email_batching_period_s_min: 1,
  email_batching_period_s_max: 7 * 24 * 60 * 60,
  font_size_px_min: 1,
  font_size_px_max: 32_767,
  line_height_percent_min: 1,
  line_height_percent_max: 32_767,
} as const;

const display = rowsOf("display");
const notification = rowsOf("notification");
const other = rowsOf("other");

/** Names of sounds in clients, besides `none`. */
export const notificationSounds = [
  ...["ascend", "beep_boop", "bink", "bright", "brlip", "chime", "deep tom", "ding", "double tap", "down"],
  ...["dry bongos", "dutdut", "fast ascend", "flute", "friendly", "kick roll", "loud tintong", "metallic snare"],
  ...["pan", "shaker", "simple", "stairs", "subtle", "swish", "tintong", "up", "wood block", "zaping", "zing", "zulip"],
] as const;
const sound = oneOf([...notificationSounds, "none"], "zulip", "Invalid notification sound '{value}'");

export const emojisets = { google: "Google", twitter: "Twitter", text: "Plain text" } as const;
const emojiset = oneOf(["google", "twitter", "text"], "google");

const batchingPeriod = between(
  userSettingLimits.email_batching_period_s_min,
  userSettingLimits.email_batching_period_s_max,
  120,
  "Invalid email batching period: {value} seconds",
);
const fontSize = between(userSettingLimits.font_size_px_min, userSettingLimits.font_size_px_max, 16);
const lineHeight = between(userSettingLimits.line_height_percent_min, userSettingLimits.line_height_percent_max, 140);

const isOn = flag(true);
const isOff = flag(false);

/** In the order of spec 2.3, with additional rows at the end of their kind. */
export const userSettings = {
  twenty_four_hour_time: display(isOff, "client", "Show times in 24-hour notation"),
  starred_message_counts: display(isOn, "client", "Show the number of starred messages"),
  fluid_layout_width: display(isOff, "client", "Use the full width of the screen for the center panel"),
  high_contrast_mode: display(isOff, "client", "Reserved for visually impaired users"),
  color_scheme: display(oneOf([1, 2, 3], 1), "client", "1 automatic, 2 dark, 3 light"),
  enable_drafts_synchronization: display(isOn, "server", "Keep drafts on the server; turning it off deletes them"),
  translate_emoticons: display(isOff, "server", "Translate emoticons to emoji in sent messages"),
  default_language: personal(
    display(oneOf(Object.keys(languages), "en"), "client", "Language code for clients; emails are in English"),
  ),
  web_home_view: display(
    oneOf(["recent_topics", "inbox", "all_messages"], "inbox"),
    "client",
    "The initial view of a new window",
  ),
  left_side_userlist: display(isOff, "client", "Show users in the left sidebar of narrow windows"),
  emojiset: display(emojiset, "client", "Emoji image set"),
  demote_inactive_streams: display(
    oneOf([1, 2, 3], 1),
    "client",
    "Hide inactive channels: 1 automatic, 2 always, 3 never",
  ),
  enter_sends: display(isOff, "client", "Enter in the compose box sends the message"),
  timezone: personal(
    display(text(""), "server", "IANA name of the profile's time zone, shown to others; empty: not set"),
  ),

  enable_stream_desktop_notifications: notification(isOff, "client", "Desktop notifications for channel messages"),
  enable_stream_email_notifications: notification(isOff, "server", "Emails for channel messages"),
  enable_stream_push_notifications: notification(isOff, "client", "Mobile notifications for channel messages"),
  enable_stream_audible_notifications: notification(isOff, "client", "Sounds for channel messages"),
  notification_sound: notification(sound, "client", "Name of the sound, or none"),
  enable_desktop_notifications: notification(isOn, "client", "Desktop notifications for direct messages and mentions"),
  enable_sounds: notification(isOn, "client", "Sounds for direct messages and mentions"),
  email_notifications_batching_period_seconds: notification(
    batchingPeriod,
    "server",
    "How long missed messages are collected before an email",
  ),
  enable_offline_email_notifications: notification(
    isOn,
    "server",
    "Emails for direct messages and mentions while away",
  ),
  enable_offline_push_notifications: notification(
    isOn,
    "client",
    "Mobile notifications for direct messages and mentions while away",
  ),
  enable_online_push_notifications: notification(
    isOn,
    "client",
    "Mobile notifications for direct messages and mentions while online",
  ),
  enable_digest_emails: notification(isOn, "server", "Digest emails while away"),
  enable_marketing_emails: personal(notification(isOn, "client", "Has no effect here")),
  enable_login_emails: personal(notification(isOn, "server", "Email about each login from a new device")),
  message_content_in_email_notifications: notification(isOn, "server", "Emails contain message content"),
  pm_content_in_desktop_notifications: notification(
    isOn,
    "client",
    "Desktop notifications contain the content of direct messages",
  ),
  wildcard_mentions_notify: notification(isOn, "server", "Wildcard mentions notify like personal ones"),
  desktop_icon_count_display: notification(
    oneOf([1, 2, 3, 4], 1),
    "client",
    "Unread badge: 1 all, 2 direct messages, mentions and followed topics, 3 direct messages and mentions, 4 none",
  ),
  realm_name_in_email_notifications_policy: notification(
    oneOf([1, 2, 3], 1),
    "server",
    "The organization's name in email subjects: 1 automatic, 2 always, 3 never",
  ),
  presence_enabled: notification(isOn, "server", "Share presence with other users"),

  web_channel_default_view: {
    ...other(
      oneOf([1, 2, 3, 4], 1),
      "client",
      "A click on a channel opens: 1 its top topic, 2 its feed, 3 its list of topics, 4 its top unread topic",
    ),
    // D10: 3 is allowed only as the organization's default.
    schema: oneOf([1, 2, 4], 1).schema,
  },
  receives_typing_notifications: other(isOn, "server", "Receive typing notifications from others"),
  web_suggest_update_timezone: other(
    isOn,
    "client",
    "Offer to update the time zone when the device has a different one",
  ),
  web_font_size_px: other(fontSize, "client", "Primary font size in pixels"),
  web_line_height_percent: other(lineHeight, "client", "Primary line height in percent"),
  display_emoji_reaction_users: other(isOn, "client", "Show the names of users who reacted if there are few"),
  web_escape_navigates_to_home_view: other(isOn, "client", "Escape opens the home view"),
  user_list_style: other(oneOf([1, 2, 3], 3), "client", "1 compact, 2 with status, 3 with avatar and status"),
  web_animate_image_previews: other(
    oneOf(["always", "on_hover", "never"], "on_hover"),
    "client",
    "When animated images play",
  ),
  web_stream_unreads_count_display_policy: other(
    oneOf([1, 2, 3], 2),
    "client",
    "Unread counts for: 1 all channels, 2 unmuted channels and topics, 3 no channels",
  ),
  hide_ai_features: other(isOff, "client", "Hide AI features"),
  enable_followed_topic_desktop_notifications: other(isOn, "client", "Desktop notifications for followed topics"),
  enable_followed_topic_email_notifications: other(isOn, "server", "Emails for followed topics"),
  enable_followed_topic_push_notifications: other(isOn, "client", "Mobile notifications for followed topics"),
  enable_followed_topic_audible_notifications: other(isOn, "client", "Sounds for followed topics"),
  enable_followed_topic_wildcard_mentions_notify: other(
    isOn,
    "server",
    "Wildcard mentions in followed topics notify like personal ones",
  ),
  automatically_follow_topics_policy: other(
    oneOf([1, 2, 3, 4], 3),
    "server",
    "Automatically follow topics: 1 in which the user participates, 2 posts, 3 that the user starts, 4 none",
  ),
  automatically_unmute_topics_in_muted_streams_policy: other(
    oneOf([1, 2, 3, 4], 2),
    "server",
    "Automatically unmute topics in muted channels; values as for following",
  ),
  automatically_follow_topics_where_mentioned: other(
    isOn,
    "server",
    "Automatically follow topics in which the user is mentioned",
  ),
  resolved_topic_notice_auto_read_policy: other(
    oneOf(["always", "except_followed", "never"], "except_followed"),
    "server",
    "Whether notices about resolved topics are marked as read",
  ),
  send_private_typing_notifications: other(isOn, "server", "Send typing notifications in direct messages"),
  send_stream_typing_notifications: other(isOn, "server", "Send typing notifications in channels"),
  send_read_receipts: other(isOn, "server", "Let others see which messages the user has read"),
  email_address_visibility: other(
    oneOf([1, 2, 3, 4, 5], 1),
    "server",
    "Who can see the real email address: 1 everyone, 2 members, 3 administrators, 4 nobody, 5 moderators",
  ),
  web_navigate_to_sent_message: other(isOn, "client", "Go to the conversation after sending"),
  web_mark_read_on_scroll_policy: other(
    oneOf([1, 2, 3], 1),
    "client",
    "Scrolling marks as read: 1 always, 2 only in conversations, 3 never",
  ),
  web_inbox_show_channel_folders: other(isOn, "client", "The inbox shows channel folders"),
  web_left_sidebar_show_channel_folders: other(isOn, "client", "The left sidebar shows channel folders"),
  web_left_sidebar_unreads_count_summary: other(isOn, "client", "The left sidebar shows a summary of unread counts"),
  allow_private_data_export: personal(other(isOff, "server", "Administrators may export the user's private data")),
} as const satisfies Readonly<Record<string, UserSetting>>;

export type UserSettingName = keyof typeof userSettings;
export type UserSettingValue<N extends UserSettingName> = (typeof userSettings)[N]["default"];

/** The rows, for code that treats all settings alike. */
export const userSettingRows = Object.entries(userSettings) as readonly (readonly [UserSettingName, UserSetting])[];

/**
 * The only way to read a setting. The exception is `timezone`, which is a field of the user's row because others can
 * see it.
 */
export function userSetting<N extends Exclude<UserSettingName, "timezone">>(
  user: { readonly settings: Readonly<Record<string, unknown>> },
  name: N,
): UserSettingValue<N> {
  return (user.settings[name] ?? userSettings[name].default) as UserSettingValue<N>;
}
