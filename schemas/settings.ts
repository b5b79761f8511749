/**
 * Changes of user settings and of the organization's defaults for them (spec 4.1, 4.2). user-settings.ts lists the
 * settings and their values.
 */
import { type TOptional, type TProperties, type TSchema, Type } from "typebox";
import { defineArea, defineCommands } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import { sentAsStored } from "./event.ts";
import { SettingValue } from "./event-values.ts";
import { commonLimits } from "./limits/common.ts";
import { OtherText } from "./person-marks.ts";
import { described, type SettingKind } from "./setting-rows.ts";
import { type UserSettingName, userSettingLimits, userSettingRows } from "./user-settings.ts";

const limits = {
  timezone_code_points_max: 64,
} as const;

type SettingParams = { readonly [N in UserSettingName]: TOptional<TSchema> };

/** One optional parameter for each setting with a schema for this operation. */
function parametersOf(schemaOf: (row: (typeof userSettingRows)[number][1]) => TSchema | null): SettingParams {
  const params = userSettingRows.flatMap(([name, row]) => {
    const schema = schemaOf(row);
    return schema === null ? [] : [[name, Type.Optional(described(schema, row.meaning))]];
  });
  return Object.fromEntries(params);
}

const password = { maxLength: commonLimits.password_bytes_max, secret: true };

const accountParams = {
  full_name: Type.Optional(Type.String()),
  email: Type.Optional(Type.String({ maxLength: commonLimits.email_code_points_max })),
  old_password: Type.Optional(Type.String(password)),
  new_password: Type.Optional(Type.String(password)),
};

function settingsEndpoint<P extends string>(operationId: string, path: P, summary: string) {
  return defineEndpoint({
    operationId,
    method: "PATCH",
    path,
    authentication: "user",
    effectiveness: "durable",
    role: "human",
    summary,
    params: { ...accountParams, ...parametersOf((row) => row.schema) },
    /** Only if an address was sent, which an email confirms. */
    ok: { server_sends_email: Type.Optional(Type.Boolean()) },
    errors: [],
  });
}

export const updateSettings = settingsEndpoint("update-settings", "/settings", "Changes the caller's own settings.");

/** The same operation under two older paths (public API, feature level 80). */
export const updateDisplaySettings = settingsEndpoint(
  "update-display-settings",
  "/settings/display",
  "Deprecated: alias of update-settings.",
);
export const updateNotificationSettings = settingsEndpoint(
  "update-notification-settings",
  "/settings/notifications",
  "Deprecated: alias of update-settings.",
);

export const updateUserSettingsDefaults = defineEndpoint({
  operationId: "update-realm-user-settings-defaults",
  method: "PATCH",
  path: "/realm/user_settings_defaults",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Changes the default settings of new users; organization administrators only.",
  params: { ...parametersOf((row) => row.defaultsSchema) },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

/** A validated PATCH /settings request; null keeps the value. */
export interface SettingsChange {
  /** New values of rows of `userSettings`. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly fullName: string | null;
  /** `formerHash`: the hash of the old password that was verified; null: the old password was wrong. */
  readonly password: {
    readonly formerHash: string | null;
    readonly hash: string;
    /** The hash of the session that changes the password and continues; all others end. */
    readonly session?: string;
  } | null;
}

type ShownSettings = Readonly<Record<UserSettingName, TSchema>>;

/** The settings of these kinds as clients see them. */
function shownOf(...kinds: readonly SettingKind[]): ShownSettings {
  const rows = userSettingRows.filter(([, row]) => kinds.includes(row.kind));
  return Object.fromEntries(rows.map(([name, row]) => [name, row.shown])) as ShownSettings;
}

const shown = shownOf("display", "notification", "other");
/** There is no default time zone. */
const { timezone: _own, ...shownDefaults } = shown;
/** The values that clients can choose from. */
const choices = {
  emojiset_choices: Type.Array(Type.Object({ key: OtherText, text: OtherText })),
  available_notification_sounds: Type.Array(OtherText),
};

/** Clients that get `user_settings` do not get the older sections. */
function optional<P extends TProperties>(fields: P): { readonly [K in keyof P]: TOptional<P[K]> } {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, Type.Optional(field)])) as {
    readonly [K in keyof P]: TOptional<P[K]>;
  };
}

/** Parameters of its commands, by type. */
export interface SettingsCommands {
  "realm.change-settings-defaults": { readonly settings: Readonly<Record<string, unknown>> };
  "user.change-settings": SettingsChange;
}

/** Only for `default_language`: the language's own name. */
const language = { language_name: Type.Optional(OtherText) };
/** Events that repeat `user_settings` for older clients; `user` is the reader's own address. */
const older = { user: OtherText, setting: SettingValue, ...language };

export const settingsArea = defineArea({
  endpoints: [updateSettings, updateDisplaySettings, updateNotificationSettings, updateUserSettingsDefaults],
  commands: defineCommands<SettingsCommands>(),
  events: {
    user_settings: sentAsStored({ update: { property: OtherText, value: SettingValue, ...language } }),
    update_display_settings: sentAsStored({ "": { setting_name: OtherText, ...older } }),
    update_global_notifications: sentAsStored({ "": { notification_name: OtherText, ...older } }),
    realm_user_settings_defaults: sentAsStored({ update: { property: OtherText, value: SettingValue } }),
  },
  state: {
    user_settings: { user_settings: Type.Object({ ...shown, ...choices }) },
    realm_user_settings_defaults: { realm_user_settings_defaults: Type.Object({ ...shownDefaults, ...choices }) },
    update_display_settings: optional({ ...shownOf("display"), emojiset_choices: choices.emojiset_choices }),
    update_global_notifications: optional({
      ...shownOf("notification"),
      available_notification_sounds: choices.available_notification_sounds,
    }),
  },
  limits: { ...limits, ...userSettingLimits },
});
