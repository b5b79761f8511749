/** User settings in the state of POST /register (OpenAPI register-queue; behaviour 4.1). */

import { settingOf } from "../../domain/settings.ts";
import type { StateOf } from "../../schemas/register.ts";
import type { SettingKind } from "../../schemas/setting-rows.ts";
import { emojisets, notificationSounds, userSettingRows } from "../../schemas/user-settings.ts";
import type { Section } from "./state-section.ts";

const emojisetChoices = Object.entries(emojisets).map(([key, text]) => ({ key, text }));
const choices = { emojiset_choices: emojisetChoices, available_notification_sounds: notificationSounds };

export const ownSettings: Section<"user_settings"> = (_view, user) => ({
  user_settings: shown<"user_settings">({
    ...Object.fromEntries(userSettingRows.map(([name]) => [name, settingOf(user, name)])),
    ...choices,
  }),
});

type OlderSection = "update_display_settings" | "update_global_notifications";

/** Older clients find their settings at the top level, each kind under its own event type. */
function flatSettings<S extends OlderSection>(kind: SettingKind, more: Readonly<Record<string, unknown>>): Section<S> {
  const rows = userSettingRows.filter(([, row]) => row.kind === kind);
  return (_view, user, request) => {
    const values = Object.fromEntries(rows.map(([name]) => [name, settingOf(user, name)]));
    // Like `shown`.
    return (request.takesSettingsObject ? {} : { ...values, ...more }) as StateOf<S>;
  };
}

export const displaySettings = flatSettings<"update_display_settings">("display", {
  emojiset_choices: emojisetChoices,
});
export const notificationSettings = flatSettings<"update_global_notifications">("notification", {
  available_notification_sounds: notificationSounds,
});

/** Defaults for new users; there is no default time zone. */
export const settingsDefaults: Section<"realm_user_settings_defaults"> = (view) => {
  const rows = userSettingRows.filter(([name]) => name !== "timezone");
  const values = rows.map(([name, row]) => [name, view.realm.userDefaults[name] ?? row.default]);
  return {
    realm_user_settings_defaults: shown<"realm_user_settings_defaults">({ ...Object.fromEntries(values), ...choices }),
  };
};

/** The fields are made from the same rows as their schemas, which the compiler cannot follow. */
function shown<S extends "user_settings" | "realm_user_settings_defaults">(values: Readonly<Record<string, unknown>>) {
  return values as StateOf<S>[S & keyof StateOf<S>];
}
