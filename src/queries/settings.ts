/** Personal settings in the state of POST /register (OpenAPI register-queue; behaviour 4.1). */
import type { SettingKind } from "../../schemas/setting-rows.ts";
import { emojisets, notificationSounds, userSettingRows } from "../../schemas/user-settings.ts";
import { settingOf } from "../domain/settings.ts";
import type { Section } from "./state-section.ts";

const emojisetChoices = Object.entries(emojisets).map(([key, text]) => ({ key, text }));
const choices = { emojiset_choices: emojisetChoices, available_notification_sounds: notificationSounds };

export const ownSettings: Section = (_view, user) => ({
  user_settings: { ...Object.fromEntries(userSettingRows.map(([name]) => [name, settingOf(user, name)])), ...choices },
});

/** Older clients find their settings at the top level, each kind under its own event type. */
function flatSettings(kind: SettingKind, more: Readonly<Record<string, unknown>>): Section {
  const rows = userSettingRows.filter(([, row]) => row.kind === kind);
  return (_view, user, request) => {
    if (request.takesSettingsObject) return {};
    return { ...Object.fromEntries(rows.map(([name]) => [name, settingOf(user, name)])), ...more };
  };
}

export const displaySettings = flatSettings("display", { emojiset_choices: emojisetChoices });
export const notificationSettings = flatSettings("notification", {
  available_notification_sounds: notificationSounds,
});

/** What new people start with; a time zone is nobody's default. */
export const settingsDefaults: Section = (view) => {
  const rows = userSettingRows.filter(([name]) => name !== "timezone");
  const values = rows.map(([name, row]) => [name, view.realm.userDefaults[name] ?? row.default]);
  return { realm_user_settings_defaults: { ...Object.fromEntries(values), ...choices } };
};
