/**
 * Personal settings as clients read them, and an independent copy of each row of spec 2.3, to compare with the
 * program's table.
 */
import { languages } from "../../schemas/languages.ts";
import type { Client, Event } from "./client.ts";

/** A section of a fresh /register; no queue is left behind. */
export async function sectionOf(client: Client, type: string, capabilities: readonly string[] = []): Promise<Event> {
  const state = await client.register({
    event_types: [],
    fetch_event_types: [type],
    client_capabilities: {
      notification_settings_null: true,
      ...Object.fromEntries(capabilities.map((name) => [name, true])),
    },
  });
  await client.delete("/events", { queue_id: state.queue_id });
  const always = ["result", "msg", "queue_id", "last_event_id", "idle_queue_timeout_secs"];
  return Object.fromEntries(
    Object.entries(state).filter(([key]) => !always.includes(key) && !key.startsWith("zulip_")),
  );
}

export async function settingsOf(client: Client): Promise<Event> {
  return (await sectionOf(client, "user_settings"))["user_settings"];
}

export async function defaultsOf(client: Client): Promise<Event> {
  return (await sectionOf(client, "realm_user_settings_defaults"))["realm_user_settings_defaults"];
}

/** Records events: the returned function returns those so far, except presence. */
export async function watchSettings(client: Client): Promise<() => Promise<readonly Event[]>> {
  const changes = await client.watchChanges();
  return async () => ((await changes()) as Event[]).filter((event) => event.type !== "presence");
}

/** What PATCH /settings accepts (S) and what PATCH /realm/user_settings_defaults accepts (D; null: nothing). */
export interface Row {
  readonly S: readonly (string | number | boolean)[];
  readonly D: readonly (string | number | boolean)[] | null;
}

const booleans = `
  twenty_four_hour_time starred_message_counts receives_typing_notifications web_suggest_update_timezone fluid_layout_width
  high_contrast_mode enable_drafts_synchronization translate_emoticons display_emoji_reaction_users
  web_escape_navigates_to_home_view left_side_userlist hide_ai_features enable_stream_desktop_notifications
  enable_stream_email_notifications enable_stream_push_notifications enable_stream_audible_notifications
  enable_desktop_notifications enable_sounds enable_offline_email_notifications enable_offline_push_notifications
  enable_online_push_notifications enable_followed_topic_desktop_notifications enable_followed_topic_email_notifications
  enable_followed_topic_push_notifications enable_followed_topic_audible_notifications enable_digest_emails
  message_content_in_email_notifications pm_content_in_desktop_notifications wildcard_mentions_notify
  enable_followed_topic_wildcard_mentions_notify automatically_follow_topics_where_mentioned presence_enabled enter_sends
  send_private_typing_notifications send_stream_typing_notifications send_read_receipts web_navigate_to_sent_message
  web_inbox_show_channel_folders web_left_sidebar_show_channel_folders web_left_sidebar_unreads_count_summary
`;
const personalBooleans = "enable_marketing_emails enable_login_emails allow_private_data_export";

function flags(names: string, isDefault: boolean): Record<string, Row> {
  const both = [true, false];
  const rows = names.trim().split(/\s+/);
  return Object.fromEntries(rows.map((name) => [name, { S: both, D: isDefault ? both : null }]));
}

function both(...values: (string | number)[]): Row {
  return { S: values, D: values };
}

const sounds =
  "ascend,beep_boop,bink,bright,brlip,chime,deep tom,ding,double tap,down,dry bongos,dutdut,fast ascend,flute,friendly," +
  "kick roll,loud tintong,metallic snare,pan,shaker,simple,stairs,subtle,swish,tintong,up,wood block,zaping,zing,zulip";
export const soundNames = sounds.split(",");

/** Spec 2.3, and the additional settings of behaviour 2.1. */
export const rows: Readonly<Record<string, Row>> = {
  ...flags(booleans, true),
  ...flags(personalBooleans, false),
  // [D10]
  web_channel_default_view: { S: [1, 2, 4], D: [1, 2, 3, 4] },
  web_font_size_px: both(1, 14, 16, 32_767),
  web_line_height_percent: both(1, 122, 140, 32_767),
  color_scheme: both(1, 2, 3),
  default_language: { S: Object.keys(languages), D: null },
  web_home_view: both("recent_topics", "inbox", "all_messages"),
  emojiset: both("google", "twitter", "text"),
  demote_inactive_streams: both(1, 2, 3),
  user_list_style: both(1, 2, 3),
  web_animate_image_previews: both("always", "on_hover", "never"),
  web_stream_unreads_count_display_policy: both(1, 2, 3),
  timezone: { S: ["Europe/Berlin", "America/Argentina/Ushuaia", "UTC", "Asia/Kolkata", ""], D: null },
  notification_sound: both(...soundNames, "none"),
  email_notifications_batching_period_seconds: both(1, 120, 604_800),
  desktop_icon_count_display: both(1, 2, 3, 4),
  realm_name_in_email_notifications_policy: both(1, 2, 3),
  automatically_follow_topics_policy: both(1, 2, 3, 4),
  automatically_unmute_topics_in_muted_streams_policy: both(1, 2, 3, 4),
  resolved_topic_notice_auto_read_policy: both("always", "except_followed", "never"),
  email_address_visibility: both(1, 2, 3, 4, 5),
  web_mark_read_on_scroll_policy: both(1, 2, 3),
};

/** The settings of a new user (public server). */
export const programDefaults: Readonly<Record<string, string | number | boolean>> = {
  ...Object.fromEntries(Object.keys(flags(`${booleans} ${personalBooleans}`, true)).map((name) => [name, true])),
  ...Object.fromEntries(
    `twenty_four_hour_time fluid_layout_width high_contrast_mode translate_emoticons left_side_userlist hide_ai_features
     enable_stream_desktop_notifications enable_stream_email_notifications enable_stream_push_notifications
     enable_stream_audible_notifications enter_sends allow_private_data_export`
      .split(/\s+/)
      .map((name) => [name, false]),
  ),
  web_channel_default_view: 1,
  web_font_size_px: 16,
  web_line_height_percent: 140,
  color_scheme: 1,
  default_language: "en",
  web_home_view: "inbox",
  emojiset: "google",
  demote_inactive_streams: 1,
  user_list_style: 3,
  web_animate_image_previews: "on_hover",
  web_stream_unreads_count_display_policy: 2,
  timezone: "",
  notification_sound: "zulip",
  email_notifications_batching_period_seconds: 120,
  desktop_icon_count_display: 1,
  realm_name_in_email_notifications_policy: 1,
  automatically_follow_topics_policy: 3,
  automatically_unmute_topics_in_muted_streams_policy: 2,
  resolved_topic_notice_auto_read_policy: "except_followed",
  email_address_visibility: 1,
  web_mark_read_on_scroll_policy: 1,
};

/** Wrong values of a row with the error for each (behaviour 1.3, 2.1). */
export function wrongValues(
  name: string,
  values: readonly (string | number | boolean)[],
): (readonly [value: string, message: string])[] {
  const notJson = `${name} is not valid JSON`;
  if (typeof values[0] === "boolean") {
    const isNone = `${name} is not a boolean`;
    return [
      ["", notJson],
      ["True", notJson],
      ["yes", notJson],
      ["1", isNone],
      ['"true"', isNone],
      ["null", isNone],
    ];
  }
  if (typeof values[0] === "number") {
    const isNone = `${name} is not an integer`;
    const wrongTypes = [
      ["", notJson],
      ["one", notJson],
      ['"1"', isNone],
      ["1.5", isNone],
      ["true", isNone],
      ["null", isNone],
    ] as const;
    const highest = Math.max(...(values as number[]));
    if (name === "email_notifications_batching_period_seconds") {
      const invalid = (value: number) => `Invalid email batching period: ${value} seconds`;
      return [...wrongTypes, ...[-1, 0, highest + 1].map((value) => [String(value), invalid(value)] as const)];
    }
    if (highest === 32_767) return [...wrongTypes, ["0", `${name} is too small`], ["32768", `${name} is too large`]];
    return [...wrongTypes, ...[0, -1, highest + 1].map((value) => [String(value), `Invalid ${name}`] as const)];
  }
  if (name === "timezone") {
    const names = [
      "Europe",
      "Europe/Nowhere",
      "Mars/Olympus_Mons",
      "+05:00",
      "PST",
      "SystemV/EST5",
      " UTC",
      "a".repeat(65),
    ];
    return names.map((value) => [value, "timezone is not a recognized time zone"] as const);
  }
  if (name === "notification_sound") {
    return ["", "Zulip", "drum", "$&"].map((value) => [value, `Invalid notification sound '${value}'`] as const);
  }
  const first = String(values[0]);
  return ["", "moon", first.toUpperCase(), `${first} `, `"${first}"`, "__proto__"].map(
    (value) => [value, `Invalid ${name}`] as const,
  );
}
