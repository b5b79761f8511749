/** Personal settings as they are stored: only values that differ from the defaults (spec 2.3; records, UserRecord). */

import { type UserSettingName, userSetting, userSettings } from "../schemas/user-settings.ts";
import type { UserRecord } from "../schemas/users.ts";

export type SettingValues = Readonly<Record<string, unknown>>;
export type SettingChange = readonly [name: UserSettingName, value: unknown];

/** The value of any of a user's settings; `userSetting` is typed more precisely. */
export function settingOf(user: UserRecord, name: UserSettingName): unknown {
  return name === "timezone" ? user.timezone : userSetting(user, name);
}

/** The requested values that differ from the current ones. */
export function changedSettings(wanted: SettingValues, current: (name: UserSettingName) => unknown): SettingChange[] {
  // Only names of settings get here, because the parameters are generated from them.
  const changes = Object.entries(wanted) as [UserSettingName, unknown][];
  return changes.filter(([name, value]) => current(name) !== value);
}

/** The stored settings after changes; default values are removed. */
export function storedSettings(before: SettingValues, changes: readonly SettingChange[]): SettingValues {
  const changed = new Map<string, unknown>([...Object.entries(before), ...changes]);
  for (const [name, value] of changes) if (userSettings[name].default === value) changed.delete(name);
  return Object.fromEntries(changed);
}
