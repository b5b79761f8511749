/**
 * Settings of an organization (D5): one row is one setting. What `PATCH /realm` takes, storage, events, `/register` and the
 * reference (realm-settings.md) are derived from these rows; adding a setting is adding a row. An organization stores only
 * what differs from the default. Permissions that groups hold are in group-settings.ts.
 */
import { type TOptional, type TSchema, Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { realmGroupSettingNames } from "./group-settings.ts";
import { languages } from "./languages.ts";
import { limits } from "./limits.ts";
import { between, flag, oneOf, type SettingValue } from "./setting-rows.ts";
import { GroupSettingChange, groupParams } from "./types.ts";

type SettingChanger = "administrator" | "owner";

export interface RealmSetting<V = boolean | number | string | null> {
  readonly default: V;
  /** What `PATCH /realm` takes; null: nobody sets it. */
  readonly schema: TSchema | null;
  /** Words that stand for a value which the wire cannot say otherwise. Beside them only what the schema says is taken. */
  readonly words: Readonly<Record<string, V>>;
  /** What a value must be beyond its schema. */
  readonly kind: "plain" | "name" | "days-or-seconds" | "channel" | "private-channel" | "url" | "web-public";
  readonly changedBy: SettingChanger;
  /** Where the setting has its effect: in this server, or in clients and in parts that only keep it (D31). */
  readonly effect: "server" | "client";
  readonly meaning: string;
}

interface Traits {
  readonly changedBy?: SettingChanger;
  readonly kind?: RealmSetting["kind"];
}

function row<V>(
  value: SettingValue<V> & { readonly words?: Readonly<Record<string, V>> },
  effect: RealmSetting["effect"],
  meaning: string,
  { changedBy = "administrator", kind = "plain" }: Traits = {},
): RealmSetting<V> {
  const { schema, words = {} } = value;
  return { default: value.default, schema, words, kind, changedBy, effect, meaning };
}

const isOn = flag(true);
const isOff = flag(false);
const byOwner = { changedBy: "owner" } as const;

function textUpTo(codePointsMax: number, codePointsMin = 0): SettingValue<string> {
  return { schema: Type.String({ minLength: codePointsMin, maxLength: codePointsMax }), default: "" };
}

const numberOrWord = Type.Union([Type.Integer(), Type.String({ maxLength: 40 })], { wire: "json-or-text" });

/** Seconds after which something may not be done any more; `unlimited` is null. */
function seconds(fallback: number | null) {
  return { schema: numberOrWord, default: fallback, words: { unlimited: null } };
}
const limited = { kind: "days-or-seconds" } as const;

/** Id of a channel; any negative number is none, -1. */
const channelId: SettingValue<number> = {
  schema: Type.Integer({ maximum: Number.MAX_SAFE_INTEGER }),
  default: -1,
};
const isChannel = { kind: "channel" } as const;

export const videoChatProviders = { disabled: { name: "None", id: 0 }, jitsi_meet: { name: "Jitsi Meet", id: 1 } };
export const gifRatings = {
  disabled: { name: "GIPHY integration disabled", id: 0 },
  y: { name: "Allow GIFs rated Y (Very young audience)", id: 1 },
  g: { name: "Allow GIFs rated G (General audience)", id: 2 },
  pg: { name: "Allow GIFs rated PG (Parental guidance)", id: 3 },
  "pg-13": { name: "Allow GIFs rated PG-13 (Parental guidance - under 13)", id: 4 },
  r: { name: "Allow GIFs rated R (Restricted)", id: 5 },
};

const day = 24 * 60 * 60;

export const realmSettings = {
  name: row(textUpTo(limits.realm_name_code_points_max, 1), "server", "Name of the organization", { kind: "name" }),
  description: row(textUpTo(limits.realm_description_code_points_max), "server", "Shown where people log in"),
  org_type: row(
    oneOf([0, 10, 20, 30, 35, 40, 50, 60, 70, 80, 90, 100, 1000], 0),
    "client",
    "What the organization is, as clients name it",
  ),
  default_language: row(
    oneOf(Object.keys(languages), "en", "Invalid language '{value}'"),
    "server",
    "The language that new people start with",
  ),
  want_advertise_in_communities_directory: row(isOff, "client", "The organization may be listed publicly"),
  welcome_message_custom_text: row(
    textUpTo(limits.welcome_message_code_points_max),
    "server",
    "What new people are greeted with",
  ),

  invite_required: row(isOn, "client", "Nobody joins without an invitation", byOwner),
  emails_restricted_to_domains: row(isOff, "server", "Addresses of new people must be of known domains", byOwner),
  disallow_disposable_email_addresses: row(isOn, "client", "Addresses of new people must not be disposable", byOwner),
  waiting_period_threshold: row(
    between(0, limits.waiting_period_days_max, 0),
    "server",
    "Days after which new members are full members",
    byOwner,
  ),
  require_unique_names: row(isOff, "server", "No two people have the same name"),
  name_changes_disabled: row(isOff, "server", "Only administrators change names"),
  email_changes_disabled: row(isOff, "server", "Only administrators change their address"),
  avatar_changes_disabled: row(isOff, "server", "Only administrators change their picture"),
  enable_guest_user_indicator: row(isOn, "client", "Names of guests are marked"),
  enable_guest_user_dm_warning: row(isOn, "client", "Whoever writes to a guest directly is warned"),
  enable_spectator_access: row(isOff, "server", "Web-public channels are open to the world", { kind: "web-public" }),

  topics_policy: row(
    {
      ...oneOf(["allow_empty_topic", "disable_empty_topic"], "allow_empty_topic"),
      schema: Type.Enum(["allow_empty_topic", "disable_empty_topic"], { wire: "json-or-text" }),
    },
    "server",
    "Whether channels that inherit it have the empty topic",
  ),
  empty_topic_display_name: {
    ...row({ schema: Type.String(), default: "general chat" }, "server", "What the empty topic is called"),
    schema: null,
  },
  allow_message_editing: row(isOn, "server", "The content of messages can be edited"),
  message_content_edit_limit_seconds: row(
    seconds(600),
    "server",
    "How long the content of a message can be edited",
    limited,
  ),
  message_content_delete_limit_seconds: row(
    seconds(600),
    "server",
    "How long one can delete one's own messages",
    limited,
  ),
  move_messages_within_stream_limit_seconds: row(
    seconds(7 * day),
    "server",
    "How long messages can be moved to another topic",
    limited,
  ),
  move_messages_between_streams_limit_seconds: row(
    seconds(7 * day),
    "server",
    "How long messages can be moved to another channel",
    limited,
  ),
  message_edit_history_visibility_policy: row(
    oneOf(["all", "moves", "none"], "all"),
    "server",
    "What of earlier forms of messages is shown",
  ),
  message_retention_days: row(
    { schema: numberOrWord, default: -1, words: { unlimited: -1, forever: -1 } },
    "server",
    "How long messages are kept where a channel does not say; -1: for ever",
    limited,
  ),
  enable_read_receipts: row(isOn, "server", "Who has read a message is shown"),
  send_channel_events_messages: row(isOff, "server", "Changes of channels are told in the channel"),
  inline_image_preview: row(isOn, "server", "Uploaded pictures and videos are shown below their links"),
  inline_url_embed_preview: row(isOff, "client", "Linked pages are previewed"),
  default_code_block_language: row(
    textUpTo(limits.code_language_code_points_max),
    "client",
    "The language of code blocks that name none",
  ),

  new_stream_announcements_stream_id: row(channelId, "server", "Channel where new channels are announced", isChannel),
  signup_announcements_stream_id: row(channelId, "client", "Channel where new people are announced", isChannel),
  zulip_update_announcements_stream_id: row(channelId, "client", "Channel where new features are announced", isChannel),
  moderation_request_channel_id: row(channelId, "client", "Private channel where reported messages go", {
    kind: "private-channel",
  }),

  digest_emails_enabled: row(isOff, "client", "People who were away get digests by mail"),
  digest_weekday: row(oneOf([0, 1, 2, 3, 4, 5, 6], 1), "client", "Day of the digests; 0 is Monday"),
  send_welcome_emails: row(isOn, "client", "New people are welcomed by mail"),
  message_content_allowed_in_email_notifications: row(isOn, "server", "Mails may contain what was written"),
  require_e2ee_push_notifications: row(isOff, "client", "Mobile notifications tell nothing unless encrypted"),
  video_chat_provider: row(
    oneOf(
      Object.values(videoChatProviders).map(({ id }) => id),
      1,
      "Invalid video_chat_provider {value}",
    ),
    "client",
    "Where video calls take place: 0 nowhere, 1 Jitsi Meet",
  ),
  jitsi_server_url: row<string | null>(
    {
      schema: Type.String({ maxLength: limits.jitsi_url_code_points_max, wire: "json-or-text" }),
      default: null,
      words: { default: null },
    },
    "client",
    "Address of the organization's own Jitsi Meet, or default",
    { kind: "url" },
  ),
  giphy_rating: row(
    oneOf(
      Object.values(gifRatings).map(({ id }) => id),
      2,
      "Invalid giphy_rating {value}",
    ),
    "client",
    "Which GIFs are offered",
  ),
} as const satisfies Readonly<Record<string, RealmSetting>>;

export type RealmSettingName = keyof typeof realmSettings;
export type RealmSettingValue<N extends RealmSettingName> = (typeof realmSettings)[N]["default"];

/** The rows, for whoever treats all alike. */
export const realmSettingRows = Object.entries(realmSettings) as readonly (readonly [RealmSettingName, RealmSetting])[];

/** The name in the state of POST /register. */
export function publishedAs(name: RealmSettingName): string {
  return `realm_${name}`;
}

type SettingParams = { readonly [N in RealmSettingName]: TOptional<TSchema> };

const settingParams = Object.fromEntries(
  realmSettingRows.flatMap(([name, { schema }]) => (schema === null ? [] : [[name, Type.Optional(schema)]])),
) as SettingParams;

export const updateRealm = defineEndpoint({
  operationId: "update-realm",
  method: "PATCH",
  path: "/realm",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Changes settings and permissions of the organization; administrators, some of them owners only.",
  params: { ...settingParams, ...groupParams(realmGroupSettingNames, GroupSettingChange) },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL", "REQUEST_VARIABLE_INVALID", "EXPECTATION_MISMATCH", "SYSTEM_GROUP_REQUIRED"],
});
