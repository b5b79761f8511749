/** An organization's settings: reading them, and what is stored (schemas/realm-settings.ts; records, RealmRecord). */

import { isRefusal, type Refusal, refuse } from "../schemas/errors.ts";
import type { ChannelId } from "../schemas/ids.ts";
import { limits } from "../schemas/limits.ts";
import {
  type NewRealmValues,
  type RealmRecord,
  type RealmSetting,
  type RealmSettingName,
  type RealmSettingValue,
  realmSettingRows,
  realmSettings,
} from "../schemas/realm-settings.ts";
import type { SettingValues } from "./settings.ts";
import { checkCharacters, checkLines } from "./text.ts";
import type { View } from "./view.ts";

type RealmDefaults = Pick<RealmRecord, "name" | "settings">;

/** @returns the value, or the default if it was never set */
export function realmSetting<N extends RealmSettingName>(view: Pick<View, "realm">, name: N): RealmSettingValue<N> {
  // A stored value has passed the setting's schema.
  return settingValueOf(view.realm, name) as RealmSettingValue<N>;
}

/** The value of any setting; `realmSetting` is typed more precisely. The organization's name is a separate field. */
export function settingValueOf(realm: RealmDefaults, name: RealmSettingName): unknown {
  if (name === "name") return realm.name;
  const stored = realm.settings[name];
  return stored === undefined ? realmSettings[name].default : stored;
}

/** The record with other values; default values are not stored. */
export function withSettings(realm: RealmRecord, values: SettingValues): RealmRecord {
  const { name = realm.name, ...others } = values;
  const settings = new Map<string, unknown>([...Object.entries(realm.settings), ...Object.entries(others)]);
  for (const [key, row] of realmSettingRows) if (settings.get(key) === row.default) settings.delete(key);
  return { ...realm, name: String(name), settings: Object.fromEntries(settings) };
}

/** Settings that archiving a channel changes: each one that names it is reset to none (behaviour 2.5). */
export function withoutChannel(realm: RealmDefaults, channelId: ChannelId): NewRealmValues {
  const naming = realmSettingRows.filter(([name, row]) => isChannel(row) && settingValueOf(realm, name) === channelId);
  return Object.fromEntries(naming.map(([name]) => [name, -1])) as NewRealmValues; // each of them is a channel's id
}

export function isChannel({ kind }: RealmSetting): boolean {
  return kind === "channel" || kind === "private-channel";
}

/** Turns the validated parameters of PATCH /realm into stored values. */
export function readRealmSettings(params: SettingValues): { readonly settings: SettingValues } | Refusal {
  const values: Record<string, unknown> = {};
  for (const [name, row] of realmSettingRows) {
    const sent = params[name];
    if (sent === undefined) continue;
    const value = readValue(name, row, sent);
    if (isRefusal(value)) return value;
    values[name] = value;
  }
  return { settings: values };
}

function readValue(name: string, row: RealmSetting, sent: unknown): unknown {
  if (typeof sent === "string" && Object.hasOwn(row.words, sent)) return row.words[sent];
  switch (row.kind) {
    case "days-or-seconds": {
      const isPossible = typeof sent === "number" && sent > 0 && sent <= limits.setting_days_or_seconds_max;
      return isPossible ? sent : refuse.invalidValue(name, String(sent));
    }
    case "channel":
    case "private-channel":
      return Math.max(-1, Number(sent));
    case "name": {
      const trimmed = String(sent).trim();
      if (trimmed === "") return refuse.badRequest(`${name} cannot be blank`);
      return checkCharacters(name, trimmed) ?? trimmed;
    }
    case "url":
      return isWebAddress(String(sent)) ? sent : refuse.badRequest(`${name} is not an allowed_type`);
    default:
      return (typeof sent === "string" ? checkLines(name, sent) : null) ?? sent;
  }
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
