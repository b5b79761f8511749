/**
 * Settings of an organization (D5): one row per setting. The parameters of `PATCH /realm`, storage, events, `/register`
 * and the reference (realm-settings.md) are derived from these rows, so a new setting needs only a row. Only values
 * that differ from the default are stored. Permissions held by groups are in group-settings.ts.
 */
import { type TOptional, type TSchema, Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import { sentAsStored } from "./event.ts";
import { GroupValue } from "./event-values.ts";
import { type RealmGroupSettingName, realmGroupSettingNames } from "./group-settings.ts";
import { languages } from "./languages.ts";
import { commonLimits } from "./limits/common.ts";
import { OtherId, typedBy } from "./person-marks.ts";
import { newPictures } from "./realm-pictures.ts";
import { type SearchLanguage, searchLanguages } from "./search.ts";
import { between, described, flag, oneOf, type SettingValue, shownAs, type Words } from "./setting-rows.ts";
import { GroupSettingChange, type GroupSettingValue, groupParams } from "./types.ts";

const limits = {
  realm_name_code_points_max: 40,
  realm_description_code_points_max: 1000,
  jitsi_url_code_points_max: 200,
  waiting_period_days_max: 36_500,
  setting_days_or_seconds_max: 2_147_483_647,
} as const;

type SettingChanger = "administrator" | "owner";

export interface RealmSetting<V = boolean | number | string | null> {
  readonly default: V;
  /** How clients see the value. */
  readonly shown: TSchema;
  /** Values accepted by `PATCH /realm`; null: it cannot be set. */
  readonly schema: TSchema | null;
  /** Words accepted for some values, for example `unlimited` for null. All other values must match the schema. */
  readonly words: Readonly<Record<string, V>>;
  /** Requirements beyond the schema. */
  readonly kind: "plain" | "name" | "days-or-seconds" | "channel" | "private-channel" | "url" | "web-public";
  readonly changedBy: SettingChanger;
  /** "server": this server acts on the setting. "client": it is only stored and sent to clients (D31). */
  readonly effect: "server" | "client";
  readonly meaning: string;
}

interface Traits {
  readonly changedBy?: SettingChanger;
  readonly kind?: RealmSetting["kind"];
}

function row<V>(
  value: SettingValue<V> & Words<V>,
  effect: RealmSetting["effect"],
  meaning: string,
  { changedBy = "administrator", kind = "plain" }: Traits = {},
): RealmSetting<V> {
  const { schema, words = {} } = value;
  return { default: value.default, shown: shownAs(value), schema, words, kind, changedBy, effect, meaning };
}

const isOn = flag(true);
const isOff = flag(false);
const byOwner = { changedBy: "owner" } as const;

function textUpTo(codePointsMax: number, codePointsMin = 0): SettingValue<string> {
  return { schema: Type.String({ minLength: codePointsMin, maxLength: codePointsMax }), default: "" };
}

const numberOrWord = Type.Union([Type.Integer(), Type.String({ maxLength: 40 })], { wire: "json-or-text" });

/** A time limit in seconds; the word `unlimited` means null. */
function seconds(fallback: number | null) {
  return { schema: numberOrWord, default: fallback, words: { unlimited: null } };
}
const limited = { kind: "days-or-seconds" } as const;

/** A channel id; every negative number means none and is stored as -1. */
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
  description: {
    ...row(textUpTo(limits.realm_description_code_points_max), "server", "Shown on the login page"),
    shown: typedBy(null),
  },
  org_type: row(
    oneOf([0, 10, 20, 30, 35, 40, 50, 60, 70, 80, 90, 100, 1000], 0),
    "client",
    "Type of the organization, as named by clients",
  ),
  default_language: row(
    oneOf(Object.keys(languages), "en", "Invalid language '{value}'"),
    "server",
    "Default language of new users",
  ),
  search_language: row<SearchLanguage>(
    oneOf(searchLanguages, "english"),
    "server",
    "Language whose word forms a search finds; a change rebuilds the search index",
  ),
  want_advertise_in_communities_directory: row(isOff, "client", "The organization may be listed publicly"),
  welcome_message_custom_text: row(
    textUpTo(commonLimits.welcome_message_code_points_max),
    "server",
    "Welcome message for new users",
  ),

  invite_required: row(isOn, "client", "Users can join only with an invitation", byOwner),
  emails_restricted_to_domains: row(isOff, "server", "Email addresses of new users must have a listed domain", byOwner),
  disallow_disposable_email_addresses: row(
    isOn,
    "client",
    "Email addresses of new users must not be disposable",
    byOwner,
  ),
  waiting_period_threshold: row(
    between(0, limits.waiting_period_days_max, 0),
    "server",
    "Days after which a new member becomes a full member",
    byOwner,
  ),
  require_unique_names: row(isOff, "server", "User names must be unique"),
  name_changes_disabled: row(isOff, "server", "Only administrators can change names"),
  email_changes_disabled: row(isOff, "server", "Only administrators can change their email address"),
  avatar_changes_disabled: row(isOff, "server", "Only administrators can change their avatar"),
  enable_guest_user_indicator: row(isOn, "client", "Names of guests are marked"),
  enable_guest_user_dm_warning: row(isOn, "client", "Warn users who send direct messages to guests"),
  enable_spectator_access: row(isOff, "server", "Web-public channels are visible without an account", {
    kind: "web-public",
  }),

  topics_policy: row(
    {
      ...oneOf(["allow_empty_topic", "disable_empty_topic"], "allow_empty_topic"),
      schema: Type.Enum(["allow_empty_topic", "disable_empty_topic"], { wire: "json-or-text" }),
    },
    "server",
    "Whether channels that inherit the policy allow the empty topic",
  ),
  empty_topic_display_name: {
    ...row({ schema: Type.String(), default: "general chat" }, "server", "Display name of the empty topic"),
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
    "How long users can delete their own messages",
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
    "Which earlier versions of messages are shown",
  ),
  message_retention_days: row(
    { schema: numberOrWord, default: -1, words: { unlimited: -1, forever: -1 } },
    "server",
    "How long messages are kept if the channel does not specify it; -1: forever",
    limited,
  ),
  enable_read_receipts: row(isOn, "server", "Show who has read a message"),
  send_channel_events_messages: row(isOff, "server", "Changes of channels are announced in the channel"),
  inline_image_preview: row(isOn, "server", "Uploaded images and videos are shown below their links"),
  inline_url_embed_preview: row(isOff, "client", "Show previews of linked pages"),
  default_code_block_language: row(
    textUpTo(commonLimits.code_language_code_points_max),
    "client",
    "Default language of code blocks",
  ),

  new_stream_announcements_stream_id: row(channelId, "server", "Channel where new channels are announced", isChannel),
  signup_announcements_stream_id: row(channelId, "client", "Channel where new users are announced", isChannel),
  zulip_update_announcements_stream_id: row(channelId, "client", "Channel where new features are announced", isChannel),
  moderation_request_channel_id: row(channelId, "client", "Private channel for reported messages", {
    kind: "private-channel",
  }),

  digest_emails_enabled: row(isOff, "client", "Users who were away get digest emails"),
  digest_weekday: row(oneOf([0, 1, 2, 3, 4, 5, 6], 1), "client", "Weekday of digest emails; 0 is Monday"),
  send_welcome_emails: row(isOn, "client", "New users get a welcome email"),
  message_content_allowed_in_email_notifications: row(isOn, "server", "Emails may contain message content"),
  require_e2ee_push_notifications: row(isOff, "client", "Mobile notifications contain no content unless encrypted"),
  video_chat_provider: row(
    oneOf(
      Object.values(videoChatProviders).map(({ id }) => id),
      1,
      "Invalid video_chat_provider {value}",
    ),
    "client",
    "Video call provider: 0 none, 1 Jitsi Meet",
  ),
  jitsi_server_url: row<string | null>(
    {
      schema: Type.String({ maxLength: limits.jitsi_url_code_points_max, wire: "json-or-text" }),
      default: null,
      words: { default: null },
    },
    "client",
    "URL of the organization's own Jitsi Meet, or default",
    { kind: "url" },
  ),
  giphy_rating: row(
    oneOf(
      Object.values(gifRatings).map(({ id }) => id),
      2,
      "Invalid giphy_rating {value}",
    ),
    "client",
    "Which GIFs are offered, by rating",
  ),
} as const satisfies Readonly<Record<string, RealmSetting>>;

export type RealmSettingName = keyof typeof realmSettings;
export type RealmSettingValue<N extends RealmSettingName> = (typeof realmSettings)[N]["default"];

/** The rows, for code that treats all settings alike. */
export const realmSettingRows = Object.entries(realmSettings) as readonly (readonly [RealmSettingName, RealmSetting])[];

/** The setting's name in the state of POST /register. */
export function exposedAs(name: RealmSettingName): string {
  return `realm_${name}`;
}

type SettingParams = { readonly [N in RealmSettingName]: TOptional<TSchema> };

const settingParams = Object.fromEntries(
  realmSettingRows.flatMap(([name, { schema, meaning }]) =>
    schema === null ? [] : [[name, Type.Optional(described(schema, meaning))]],
  ),
) as SettingParams;

export const updateRealm = defineEndpoint({
  operationId: "update-realm",
  method: "PATCH",
  path: "/realm",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Changes settings and permissions of the organization; administrators only, some of them owners only.",
  params: { ...settingParams, ...groupParams(realmGroupSettingNames, GroupSettingChange) },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL", "REQUEST_VARIABLE_INVALID", "EXPECTATION_MISMATCH", "SYSTEM_GROUP_REQUIRED"],
});

/** An organization (spec 1). Settings that were never changed are absent: see settings.ts. */
export interface RealmRecord {
  readonly id: number;
  /** First label of the host name; "" for the default realm (D34). */
  readonly label: string;
  readonly name: string;
  readonly createdAt: number;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Default settings of new users, where they differ from the program's defaults (spec 4.2). */
  readonly userDefaults: Readonly<Record<string, unknown>>;
  /** Since when the organization is deactivated; null: it is active. */
  readonly deactivatedAt: number | null;
}

/** A PATCH /realm request: new values as they are stored, and changes to the groups that hold permissions. */
export interface RealmChange {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly groups: Readonly<Partial<Record<RealmGroupSettingName, GroupSettingChange>>>;
  /** Whether the server allows web-public channels (spec 4.3, D6). */
  readonly isWebPublicAllowed: boolean;
}

/** Parameters of its commands, by type. */
export interface RealmSettingsCommands {
  "realm.create": {
    readonly label: string;
    readonly name: string;
    readonly ownerEmail: string;
    readonly ownerFullName: string;
    readonly passwordHash: string;
    readonly apiKeyHash: string;
    /** Opens the setup link (schemas/setup.ts); null: the owner has a password. */
    readonly setupSecret: string | null;
  };
  "realm.end-waiting-periods": Record<string, never>;
  "realm.change-settings": RealmChange;
}

/** Their replies, by type; other commands reply without fields. */
export interface RealmSettingsReplies {
  readonly "realm.create": { readonly user_id: number };
}

type NewSettings = { readonly [N in RealmSettingName]?: RealmSettingValue<N> };
export type NewPermissions = { readonly [N in RealmGroupSettingName]?: GroupSettingValue };
/** New values by name, as a `realm` event has them: without the prefix of the state, and with an older form. */
export type NewRealmValues = NewSettings & NewPermissions & { readonly mandatory_topics?: boolean };

const NewValues = Type.Unsafe<NewRealmValues>(
  Type.Object({
    ...Object.fromEntries(realmSettingRows.map(([name, { shown }]) => [name, Type.Optional(shown)])),
    ...Object.fromEntries(realmGroupSettingNames.map((name) => [name, Type.Optional(GroupValue)])),
    mandatory_topics: Type.Optional(Type.Boolean()),
  }),
);

export const realmSettingsArea = defineArea({
  endpoints: [updateRealm],
  commands: defineCommands<RealmSettingsCommands, RealmSettingsReplies>(),
  tables: {
    realm: defineTable<string, RealmRecord>({
      fields: ["id", "label", "name", "createdAt", "settings", "userDefaults", "deactivatedAt"],
      dates: ["createdAt", "deactivatedAt"],
    }),
  },
  events: {
    realm: sentAsStored({
      update_dict: [{ property: Type.Literal("default"), data: NewValues }, ...newPictures],
      deactivated: { realm_id: OtherId },
    }),
  },
  counters: [
    /** Milliseconds: the end of waiting periods has been announced up to this time. */
    "waitingPeriodsEnded",
  ],
  limits,
});
