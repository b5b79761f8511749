/**
 * PATCH /realm (D5): settings and permissions of the organization. A request is atomic, whereas the public server keeps
 * the changes made before an error. Unchanged values are neither written nor sent; one event contains all changes.
 */

import { withOverrides } from "../../domain/overlay-view.ts";
import { hasMetadataAccess, isAdministrator, realmGroupId } from "../../domain/permissions.ts";
import { isChannel, settingValueOf, withoutChannel, withSettings } from "../../domain/realm-settings.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import {
  type RealmGroupSettingName,
  realmGroupSettingNames,
  realmGroupSettings,
} from "../../schemas/group-settings.ts";
import type { ChannelId } from "../../schemas/ids.ts";
import {
  type NewPermissions,
  type NewRealmValues,
  type RealmChange,
  type RealmSettingName,
  realmSettings,
} from "../../schemas/realm-settings.ts";
import { roles } from "../../schemas/types.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { done, type Effect, effects, forEither, type Outcome, type Params } from "../protocol/decision.ts";
import { accessEffects } from "../rules/user-visibility.ts";
import { changeGroupValue, checkNamedChanges } from "./group-values.ts";
import { realmEvent } from "./realm-events.ts";
import { waitingPeriodEffects } from "./waiting-period.ts";

export function changeRealmSettings(
  caller: UserRecord | null,
  params: Params<"realm.change-settings">,
  view: View,
): Outcome {
  const refused = caller === null ? null : checkCaller(caller, params);
  if (refused !== null) return refused;
  const settings = changedSettings(view, caller, params);
  if (isRefusal(settings)) return settings;
  const groups = changedGroups(view, caller, params);
  if (isRefusal(groups)) return groups;
  const data = { ...settings, ...olderForms(settings), ...groups.eventValues };
  const changed = Object.keys(data);
  if (changed.length === 0) return done({}, []);
  const realm = withSettings(view.realm, { ...settings, ...groups.ids });
  const after = withOverrides(view, { realm });
  return done({}, [
    effects.put("realm", "realm", realm),
    ...groups.effects,
    realmEvent(data),
    ...changed.flatMap((name) => followUpEffects[name]?.(view, after) ?? []),
  ]);
}

/** When a channel is archived, settings that refer to it are reset (behaviour 2.5). Returns the row and the event. */
export function leaveChannel(view: View, channelId: ChannelId): Effect[] {
  const left = withoutChannel(view.realm, channelId);
  if (Object.keys(left).length === 0) return [];
  return [effects.put("realm", "realm", withSettings(view.realm, left)), realmEvent(left)];
}

/** Values that only owners may change reject the whole request, even if they are unchanged. */
function checkCaller(caller: UserRecord, { settings, groups }: RealmChange): Refusal | null {
  if (!isAdministrator(caller)) return refuse.administratorRequired();
  if (caller.role === roles.owner) return null;
  const changers = [
    ...Object.keys(settings).map((name) => realmSettings[name as RealmSettingName].changedBy),
    ...Object.keys(groups).map((name) => realmGroupSettings[name as RealmGroupSettingName].changedBy),
  ];
  return changers.includes("owner") ? refuse.ownerRequired() : null;
}

/**
 * The requested values that differ from the current ones. The names are valid because the endpoint's parameters are
 * built from the settings table.
 */
function changedSettings(
  view: View,
  caller: UserRecord | null,
  { settings, isWebPublicAllowed }: RealmChange,
): NewRealmValues | Refusal {
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
  return Object.fromEntries(changes) as NewRealmValues; // the parameters are built from the same table
}

/** A channel that the caller may not see is answered like one that does not exist (D24). */
function checkChannel(view: View, caller: UserRecord | null, id: number, mustBePrivate: boolean): Refusal | null {
  if (id < 0) return null;
  const channel = view.channels.get(id);
  const isKnown = channel !== undefined && (caller === null || hasMetadataAccess(view, caller, channel));
  if (!isKnown || channel.isArchived) return refuse.invalidChannelId();
  return mustBePrivate && !channel.isPrivate ? refuse.badRequest("Moderation request channel must be private.") : null;
}

interface GroupChanges {
  readonly ids: Readonly<Record<string, number>>;
  /** New values in output form, for the event. */
  readonly eventValues: NewPermissions;
  readonly effects: readonly Effect[];
}

function changedGroups(view: View, caller: UserRecord | null, { groups }: RealmChange): GroupChanges | Refusal {
  const crowded = checkNamedChanges(view, caller, groups, (name) => realmGroupId(view, name));
  if (crowded !== null) return crowded;
  const ids: Record<string, number> = {};
  const eventValues: { -readonly [N in keyof NewPermissions]: NewPermissions[N] } = {};
  const all: Effect[] = [];
  const first = view.counter("group") + 1;
  let next = first;
  for (const name of realmGroupSettingNames) {
    const wanted = groups[name];
    if (wanted === undefined) continue;
    const named = { name, setting: realmGroupSettings[name] };
    const change = changeGroupValue(view, named, realmGroupId(view, name), wanted, { id: next, caller });
    if (change === null) continue;
    if (isRefusal(change)) return change;
    ids[name] = change.id;
    eventValues[name] = change.value;
    all.push(...change.effects);
    if (change.takesId) next++;
  }
  return { ids, eventValues, effects: next === first ? all : [effects.setCounter("group", next - 1), ...all] };
}

/** Older names of a setting, which the public API also sends. */
function olderForms({ topics_policy: policy }: NewRealmValues): NewRealmValues {
  return policy === undefined ? {} : { mandatory_topics: policy === "disable_empty_topic" };
}

/** Further effects of a change besides its event; `after` is the view after the change. */
const followUpEffects: Readonly<Record<string, (view: View, after: View) => readonly Effect[]>> = {
  can_access_all_users_group: accessEffects,
  waiting_period_threshold: waitingPeriodEffects,
} satisfies Partial<Record<RealmSettingName | RealmGroupSettingName, unknown>>;

export const realmSettingsDecisions = {
  "realm.change-settings": forEither(changeRealmSettings),
} as const;
