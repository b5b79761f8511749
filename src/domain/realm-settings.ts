/** An organization's settings: how they are read, and what of them is stored (schemas/realm-settings.ts; records, RealmRecord). */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import {
  type RealmSetting,
  type RealmSettingName,
  type RealmSettingValue,
  realmSettingRows,
  realmSettings,
} from "../../schemas/realm-settings.ts";
import type { RealmRecord } from "../../schemas/records.ts";
import type { SettingValues } from "./settings.ts";
import type { View } from "./view.ts";

type Settled = Pick<RealmRecord, "name" | "settings">;

/** @returns the value, or the default while nobody has set it */
export function realmSetting<N extends RealmSettingName>(view: Pick<View, "realm">, name: N): RealmSettingValue<N> {
  // What is stored under the name has passed the row's schema.
  return settingValueOf(view.realm, name) as RealmSettingValue<N>;
}

/** The value of any row; where the name is known, `realmSetting` is more exact. The organization's name is a field of its own. */
export function settingValueOf(realm: Settled, name: RealmSettingName): unknown {
  if (name === "name") return realm.name;
  const stored = realm.settings[name];
  return stored === undefined ? realmSettings[name].default : stored;
}

/** The record with other values; what is the program's default is not stored. */
export function withSettings(realm: RealmRecord, values: SettingValues): RealmRecord {
  const { name = realm.name, ...others } = values;
  const settings = new Map<string, unknown>([...Object.entries(realm.settings), ...Object.entries(others)]);
  for (const [key, row] of realmSettingRows) if (settings.get(key) === row.default) settings.delete(key);
  return { ...realm, name: String(name), settings: Object.fromEntries(settings) };
}

/** What a channel's archiving takes from the settings: every row that names it becomes none (behaviour 2.5), by name. */
export function withoutChannel(realm: Settled, channelId: number): Readonly<Record<string, -1>> {
  const naming = realmSettingRows.filter(([name, row]) => isChannel(row) && settingValueOf(realm, name) === channelId);
  return Object.fromEntries(naming.map(([name]) => [name, -1]));
}

export function isChannel({ kind }: RealmSetting): boolean {
  return kind === "channel" || kind === "private-channel";
}

/** From the parameters of PATCH /realm, which have passed their schemas, to values as they are stored. */
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
      return trimmed === "" ? refuse.badRequest(`${name} cannot be blank`) : trimmed;
    }
    case "url":
      return isWebAddress(String(sent)) ? sent : refuse.badRequest(`${name} is not an allowed_type`);
    default:
      return sent;
  }
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function isRefusal(value: unknown): value is Refusal {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "refused";
}
