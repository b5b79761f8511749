/** An organization's settings as they are at the moment (schemas/realm-settings.ts): the one way to read them. */
import { type RealmSettingName, type RealmSettingValue, realmSettings } from "../../schemas/realm-settings.ts";
import type { RealmRecord } from "../../schemas/records.ts";
import type { View } from "./view.ts";

/** @returns the value, or the default while nobody has set it */
export function realmSetting<N extends RealmSettingName>(
  view: { readonly realm: Pick<View["realm"], "name" | "settings"> },
  name: N,
): RealmSettingValue<N> {
  const value = settingValueOf(view.realm, name);
  // What is stored under the name has passed the row's schema.
  return value as RealmSettingValue<N>;
}

/** The value of any row; where the name is known, `realmSetting` is more exact. The name has a field of its own. */
export function settingValueOf(realm: Pick<RealmRecord, "name" | "settings">, name: RealmSettingName): unknown {
  if (name === "name") return realm.name;
  const stored = realm.settings[name];
  return stored === undefined ? realmSettings[name].default : stored;
}
