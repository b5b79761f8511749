/**
 * PATCH /realm (D5): settings and permissions of the organization. Everything that a request changes is one decision: all of it
 * or nothing, where the public server keeps what came before an error. What is so already is not written and tells nobody
 * anything. Everybody is told of the rest in one event.
 */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import {
  type RealmGroupSettingName,
  realmGroupSettingNames,
  realmGroupSettings,
} from "../../schemas/group-settings.ts";
import { type RealmSettingName, realmSettings } from "../../schemas/realm-settings.ts";
import type { UserRecord } from "../../schemas/records.ts";
import { roles } from "../../schemas/types.ts";
import { hasMetadataAccess, isAdministrator, realmGroupId } from "../../src/domain/permissions.ts";
import { isChannel, settingValueOf, withoutChannel, withSettings } from "../../src/domain/realm-settings.ts";
import { supposing } from "../../src/domain/supposed-view.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command, RealmChange } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { changeGroupValue } from "./group-values.ts";
import { realmEvent } from "./realm-events.ts";
import { accessEffects } from "./user-sight.ts";
import { waitingPeriodEffects } from "./waiting-period.ts";

export function changeRealmSettings(
  _context: unknown,
  { params, ...asked }: Command<"realm.change-settings">,
  view: View,
): Outcome {
  const caller = callerOf({ params, ...asked }, view);
  const refused = caller === null ? null : checkCaller(caller, params);
  if (refused !== null) return refused;
  const settings = changedSettings(view, caller, params);
  if (isRefusal(settings)) return settings;
  const groups = changedGroups(view, params);
  if (isRefusal(groups)) return groups;
  const data = { ...settings, ...olderForms(settings), ...groups.told };
  const changed = Object.keys(data);
  if (changed.length === 0) return done({}, []);
  const realm = withSettings(view.realm, { ...settings, ...groups.ids });
  const after = supposing(view, { realm });
  return done({}, [
    effects.put("realm", "realm", realm),
    ...groups.effects,
    realmEvent(data),
    ...changed.flatMap((name) => consequences[name]?.(view, after) ?? []),
  ]);
}

/** A channel that is archived is no place for announcements any more (behaviour 2.5); the row, and what everybody is told. */
export function leaveChannel(view: View, channelId: number): Effect[] {
  const left = withoutChannel(view.realm, channelId);
  if (Object.keys(left).length === 0) return [];
  return [effects.put("realm", "realm", withSettings(view.realm, left)), realmEvent(left)];
}

/** What only owners may change is refused whole, even where it is so already. */
function checkCaller(caller: UserRecord, { settings, groups }: RealmChange): Refusal | null {
  if (!isAdministrator(caller)) return refuse.administratorRequired();
  if (caller.role === roles.owner) return null;
  const changers = [
    ...Object.keys(settings).map((name) => realmSettings[name as RealmSettingName].changedBy),
    ...Object.keys(groups).map((name) => realmGroupSettings[name as RealmGroupSettingName].changedBy),
  ];
  return changers.includes("owner") ? refuse.ownerRequired() : null;
}

/** Those of the wanted values that are not so already. Only names of rows get here: the parameters are made of them. */
function changedSettings(
  view: View,
  caller: UserRecord | null,
  { settings, isWebPublicAllowed }: RealmChange,
): Readonly<Record<string, unknown>> | Refusal {
  const changes = Object.entries(settings).filter(
    ([name, value]) => settingValueOf(view.realm, name as RealmSettingName) !== value,
  );
  for (const [name, value] of changes) {
    const row = realmSettings[name as RealmSettingName];
    const refused = isChannel(row) ? checkChannel(view, caller, Number(value), row.kind === "private-channel") : null;
    if (refused !== null) return refused;
    if (row.kind === "web-public" && value === true && !isWebPublicAllowed) {
      return refuse.badRequest("Web-public channels are not enabled.");
    }
  }
  return Object.fromEntries(changes);
}

/** A channel that the caller may not know of answers as one that does not exist (D24). */
function checkChannel(view: View, caller: UserRecord | null, id: number, mustBePrivate: boolean): Refusal | null {
  if (id < 0) return null;
  const channel = view.channels.get(id);
  const isKnown = channel !== undefined && (caller === null || hasMetadataAccess(view, caller, channel));
  if (!isKnown || channel.isArchived) return refuse.invalidChannelId();
  return mustBePrivate && !channel.isPrivate ? refuse.badRequest("Moderation request channel must be private.") : null;
}

interface GroupChanges {
  readonly ids: Readonly<Record<string, number>>;
  /** New values in output form. */
  readonly told: Readonly<Record<string, unknown>>;
  readonly effects: readonly Effect[];
}

function changedGroups(view: View, { groups }: RealmChange): GroupChanges | Refusal {
  const ids: Record<string, number> = {};
  const told: Record<string, unknown> = {};
  const all: Effect[] = [];
  const first = view.counter("group") + 1;
  let next = first;
  for (const name of realmGroupSettingNames) {
    const wanted = groups[name];
    if (wanted === undefined) continue;
    const named = { name, setting: realmGroupSettings[name] };
    const change = changeGroupValue(view, named, realmGroupId(view, name), wanted, next);
    if (change === null) continue;
    if (isRefusal(change)) return change;
    ids[name] = change.id;
    told[name] = change.value;
    all.push(...change.effects);
    if (change.takesId) next++;
  }
  return { ids, told, effects: next === first ? all : [effects.count("group", next - 1), ...all] };
}

/** Names under which older clients know a setting, and which the public API tells of, too. */
function olderForms(settings: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { topics_policy: policy } = settings;
  return policy === undefined ? {} : { mandatory_topics: policy === "disable_empty_topic" };
}

/** What a change brings about beyond its event; `after` is the view as it will be. */
const consequences: Readonly<Record<string, (view: View, after: View) => readonly Effect[]>> = {
  can_access_all_users_group: accessEffects,
  waiting_period_threshold: waitingPeriodEffects,
} satisfies Partial<Record<RealmSettingName | RealmGroupSettingName, unknown>>;

function isRefusal(value: object): value is Refusal {
  return "kind" in value && value.kind === "refused";
}
