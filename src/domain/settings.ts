/** Personal settings as they are stored: only what differs from the program's defaults (spec 2.3; records, UserRecord). */
import type { UserRecord } from "../../schemas/records.ts";
import { type UserSettingName, userSetting, userSettings } from "../../schemas/user-settings.ts";

export type SettingValues = Readonly<Record<string, unknown>>;
export type SettingChange = readonly [name: UserSettingName, value: unknown];

/** The value of any row for a person; where the name is known, `userSetting` is more exact. */
export function settingOf(user: UserRecord, name: UserSettingName): unknown {
  return name === "timezone" ? user.timezone : userSetting(user, name);
}

/** Those of the wanted values that are not so already. */
export function changedSettings(wanted: SettingValues, current: (name: UserSettingName) => unknown): SettingChange[] {
  // Only names of rows get here: the parameters are made of them.
  const changes = Object.entries(wanted) as [UserSettingName, unknown][];
  return changes.filter(([name, value]) => current(name) !== value);
}

/** What is stored after changes; a value that is the program's default leaves. */
export function storedSettings(before: SettingValues, changes: readonly SettingChange[]): SettingValues {
  const changed = new Map<string, unknown>([...Object.entries(before), ...changes]);
  for (const [name, value] of changes) if (userSettings[name].default === value) changed.delete(name);
  return Object.fromEntries(changed);
}
