/**
 * The settings of an organization (OpenAPI register-queue, PATCH /realm), written independently from the public API:
 * initial values, accepted values with their results, and rejected values with their errors.
 */
import { refusal } from "./client.ts";

export interface Row {
  readonly first: unknown;
  /** The value sent, and the resulting value. */
  readonly values: readonly (readonly [sent: unknown, value: unknown])[];
  readonly byOwner?: true;
}

function same(first: unknown, ...values: unknown[]): Row {
  return { first, values: values.map((value) => [value, value] as const) };
}

const people = "é".repeat(20) + "👩".repeat(20);
const limit = (first: number): Row => ({
  first,
  values: [
    [1, 1],
    [2_147_483_647, 2_147_483_647],
    ["unlimited", null],
    ['"unlimited"', null],
    [first, first],
  ],
});
const flags = `want_advertise_in_communities_directory:false require_unique_names:false name_changes_disabled:false
  email_changes_disabled:false avatar_changes_disabled:false enable_guest_user_indicator:true enable_guest_user_dm_warning:true
  enable_spectator_access:false allow_message_editing:true enable_read_receipts:true send_channel_events_messages:false
  inline_image_preview:true inline_url_embed_preview:false digest_emails_enabled:false send_welcome_emails:true
  message_content_allowed_in_email_notifications:true require_e2ee_push_notifications:false`;
const ownersFlags = "invite_required:true emails_restricted_to_domains:false disallow_disposable_email_addresses:true";

function flagRows(list: string): Readonly<Record<string, Row>> {
  const entries = list.split(/\s+/).map((entry) => entry.split(":") as [string, string]);
  return Object.fromEntries(
    entries.map(([name, first]) => [name, same(first === "true", first !== "true", first === "true")]),
  );
}

const ownersRows = Object.entries({
  ...flagRows(ownersFlags),
  waiting_period_threshold: same(0, 1, 36_500, 0),
}).map(([name, row]) => [name, { ...row, byOwner: true }] as const);

/** The settings (OpenAPI register-queue), with the initial value of a new organization. */
export const rows: Readonly<Record<string, Row>> = {
  ...flagRows(flags),
  ...Object.fromEntries(ownersRows),
  name: {
    first: "",
    values: [
      ["A", "A"],
      [people, people],
      ["  trimmed ", "trimmed"],
    ],
  },
  description: same("", "Words\nand lines", "👩".repeat(1000), ""),
  org_type: same(0, 10, 20, 30, 35, 40, 50, 60, 70, 80, 90, 100, 1000, 0),
  default_language: same("en", "de", "en"),
  search_language: same("english", "german", "none", "english"),
  welcome_message_custom_text: same("", "x".repeat(8000), ""),
  topics_policy: {
    first: "allow_empty_topic",
    values: [
      ["disable_empty_topic", "disable_empty_topic"],
      ['"allow_empty_topic"', "allow_empty_topic"],
    ],
  },
  message_content_edit_limit_seconds: limit(600),
  message_content_delete_limit_seconds: limit(600),
  move_messages_within_stream_limit_seconds: limit(604_800),
  move_messages_between_streams_limit_seconds: limit(604_800),
  message_edit_history_visibility_policy: same("all", "moves", "none", "all"),
  message_retention_days: {
    first: -1,
    values: [
      [1, 1],
      [2_147_483_647, 2_147_483_647],
      ["unlimited", -1],
      [30, 30],
      ["forever", -1],
    ],
  },
  default_code_block_language: same("", "python", "p".repeat(40), ""),
  digest_weekday: same(1, 0, 6, 1),
  video_chat_provider: same(1, 0, 1),
  jitsi_server_url: {
    first: null,
    values: [
      ["https://meet.example.org", "https://meet.example.org"],
      ['"https://meet.example.com/x"', "https://meet.example.com/x"],
      ["default", null],
    ],
  },
  giphy_rating: same(2, 0, 1, 3, 4, 5, 2),
};
export const channelRows = [
  "new_stream_announcements_stream_id",
  "signup_announcements_stream_id",
  "zulip_update_announcements_stream_id",
  "moderation_request_channel_id",
];

export const wrong: readonly (readonly [name: string, value: unknown, expected: ReturnType<typeof refusal>])[] = [
  ...Object.keys(flagRows(`${flags} ${ownersFlags}`)).flatMap((name) => [
    [name, "yes", refusal(`${name} is not valid JSON`)] as const,
    [name, "1", refusal(`${name} is not a boolean`)] as const,
    [name, "null", refusal(`${name} is not a boolean`)] as const,
  ]),
  ["name", "", refusal("name cannot be blank")],
  ["name", "   ", refusal("name cannot be blank")],
  ["name", `${people}x`, refusal("name is too long (limit: 40 characters)")],
  ["description", "x".repeat(1001), refusal("description is too long (limit: 1000 characters)")],
  ["org_type", 11, refusal("Invalid org_type")],
  ["org_type", '"10"', refusal("org_type is not an integer")],
  ["default_language", "tlh", refusal("Invalid language 'tlh'")],
  ["default_language", "", refusal("Invalid language ''")],
  [
    "welcome_message_custom_text",
    "x".repeat(8001),
    refusal("welcome_message_custom_text is too long (limit: 8000 characters)"),
  ],
  ["topics_policy", "inherit", refusal("Invalid topics_policy")],
  ["topics_policy", "empty_topic_only", refusal("Invalid topics_policy")],
  ["message_edit_history_visibility_policy", "some", refusal("Invalid message_edit_history_visibility_policy")],
  ...[
    "message_content_edit_limit_seconds",
    "message_content_delete_limit_seconds",
    "move_messages_within_stream_limit_seconds",
    "move_messages_between_streams_limit_seconds",
    "message_retention_days",
  ].flatMap((name) =>
    [0, -1, 2_147_483_648, "soon", ""].map((value) => {
      const fields = { var_name: name, bad_value: String(value) };
      return [
        name,
        value,
        refusal(`Bad value for '${name}': ${value}`, "REQUEST_VARIABLE_INVALID", 400, fields),
      ] as const;
    }),
  ),
  ["waiting_period_threshold", -1, refusal("waiting_period_threshold is too small")],
  ["waiting_period_threshold", 36_501, refusal("waiting_period_threshold is too large")],
  ["waiting_period_threshold", 1.5, refusal("waiting_period_threshold is not an integer")],
  [
    "default_code_block_language",
    "p".repeat(41),
    refusal("default_code_block_language is too long (limit: 40 characters)"),
  ],
  ["digest_weekday", 7, refusal("Invalid digest_weekday")],
  ["video_chat_provider", 3, refusal("Invalid video_chat_provider 3")],
  ["giphy_rating", 6, refusal("Invalid giphy_rating 6")],
  ["jitsi_server_url", "meet", refusal("jitsi_server_url is not an allowed_type")],
  ["jitsi_server_url", "javascript:alert(1)", refusal("jitsi_server_url is not an allowed_type")],
  [
    "jitsi_server_url",
    `https://x.example/${"x".repeat(183)}`,
    refusal("jitsi_server_url is too long (limit: 200 characters)"),
  ],
  ...channelRows.flatMap((name) => [
    [name, 4711, refusal("Invalid channel ID")] as const,
    [name, "general", refusal(`${name} is not valid JSON`)] as const,
    [name, "null", refusal(`${name} is not an integer`)] as const,
  ]),
];
