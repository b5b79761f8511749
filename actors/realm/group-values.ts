/**
 * Group-setting values (spec 2.2; behaviour 3.2 to 3.4): resolves a value in a request to the group that holds the
 * permission. Shared by channels, user groups and the organization.
 */

import { personOf } from "../../domain/bots.ts";
import { refuseDeactivated } from "../../domain/group-permissions.ts";
import { ascending, isSameGroupValue, normalGroupValue, shownGroupValue } from "../../domain/group-values.ts";
import { isAdministrator } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import { namesIn } from "../../schemas/group-scope.ts";
import type { GroupSetting, SystemGroupName } from "../../schemas/group-settings.ts";
import { limits } from "../../schemas/limits.ts";
import type { GroupSettingChange, GroupSettingValue } from "../../schemas/types.ts";
import type { GroupRecord } from "../../schemas/user-groups.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Effect, effects } from "../protocol/decision.ts";

/** A setting's name and its row in the settings table. */
export interface NamedSetting {
  readonly name: string;
  readonly setting: GroupSetting;
}

/** An anonymous group that may be stored. */
export interface NextGroup {
  readonly id: number;
  /** null: the server's own command line. */
  readonly caller: UserRecord | null;
}

export interface GroupChange {
  readonly id: number;
  /** The anonymous group to store; null if a named group holds the permission. */
  readonly record: GroupRecord | null;
}

/**
 * Resolves the initial value of a permission.
 * @param next the anonymous group, if one is needed
 */
export function resolveGroupValue(
  view: View,
  named: NamedSetting,
  value: GroupSettingValue,
  next: NextGroup,
): GroupChange | Refusal {
  const normal = normalGroupValue(view, value);
  return typeof normal === "number" ? checkNamedGroup(view, named, normal) : anonymousGroup(view, named, normal, next);
}

/** The holders of all permissions of a new object, with the anonymous groups to store. */
export interface ResolvedSettings<Name extends string> {
  readonly ids: Partial<Record<Name, number>>;
  readonly records: readonly GroupRecord[];
}

/**
 * Resolves every permission of a new channel or user group: the requested value or the default.
 * @param wanted.firstId id of the first anonymous group that is needed
 * @param check further requirements for a holder
 */
export function resolveSettings<Name extends string>(
  view: View,
  wanted: {
    readonly settings: Readonly<Record<Name, GroupSetting>>;
    readonly values: Readonly<Partial<Record<Name, GroupSettingValue>>>;
    readonly creator: UserRecord;
    readonly firstId: number;
  },
  check: (name: Name, change: GroupChange) => Refusal | null = () => null,
): ResolvedSettings<Name> | Refusal {
  const ids: Partial<Record<Name, number>> = {};
  const records: GroupRecord[] = [];
  for (const name of Object.keys(wanted.settings) as Name[]) {
    const setting = wanted.settings[name];
    const value = wanted.values[name] ?? defaultHolder(view, wanted.creator, setting);
    const next = { id: wanted.firstId + records.length, caller: wanted.creator };
    const change = resolveGroupValue(view, { name, setting }, value, next);
    if (isRefusal(change)) return change;
    const refused = check(name, change);
    if (refused !== null) return refused;
    ids[name] = change.id;
    if (change.record !== null) records.push(change.record);
  }
  return { ids, records };
}

/** The same settings for another object: its anonymous groups have ids that are higher by `by`. */
export function withLaterIds<Name extends string>(
  settings: ResolvedSettings<Name>,
  by: number,
): ResolvedSettings<Name> {
  if (by === 0) return settings;
  const own = new Set(settings.records.map(({ id }) => id));
  const ids = { ...settings.ids };
  for (const name of Object.keys(ids) as Name[]) {
    const id = ids[name];
    if (id !== undefined && own.has(id)) ids[name] = id + by;
  }
  return { ids, records: settings.records.map((record) => ({ ...record, id: record.id + by })) };
}

/**
 * Bounds how many users and groups the permissions in one request name directly, those that one person has named, and
 * those of the organization (S3). Names that a request removes make room for names that it adds.
 * @param naming.count number of objects that get these permissions
 * @param naming.replaced ids of the groups that hold the permissions before
 */
export function checkNamed(
  view: View,
  caller: UserRecord | null,
  naming: {
    readonly values: Iterable<GroupSettingValue | undefined>;
    readonly count?: number;
    readonly replaced?: Iterable<number>;
  },
): Refusal | null {
  let named = 0;
  for (const value of naming.values) {
    if (typeof value === "object") named += value.direct_members.length + value.direct_subgroups.length;
  }
  if (named === 0) return null;
  named *= naming.count ?? 1;
  const request = limits.permission_names_per_request_max;
  if (named > request) {
    return refuse.badRequest(`Permissions name too many users (maximum ${request} in one request). Use a user group.`);
  }
  const person = caller === null ? null : personOf(view, caller);
  let freed = 0;
  let freedOfPerson = 0;
  for (const id of new Set(naming.replaced)) {
    const group = view.groups.get(id);
    if (group === undefined || group.name !== null) continue;
    freed += namesIn(group);
    if (group.creatorId === person?.id) freedOfPerson += namesIn(group);
  }
  const isLimited = caller !== null && person !== null && !isAdministrator(caller) && !isAdministrator(person);
  const most = limits.permission_names_per_person_max;
  const added = named - freedOfPerson;
  if (isLimited && added > 0 && view.groups.namesInPermissionsBy(person.id) + added > most) {
    return refuse.badRequest(`You have named too many users in permissions (maximum ${most}). Use a user group.`);
  }
  const grown = named - freed;
  return grown <= 0 || view.groups.namesInPermissions + grown <= limits.permission_names_per_realm_max
    ? null
    : refuse.badRequest("Permissions in this organization name too many users. Use a user group.");
}

/** `checkNamed` for changed permissions. */
export function checkNamedChanges<Name extends string>(
  view: View,
  caller: UserRecord | null,
  changes: Readonly<Partial<Record<Name, GroupSettingChange>>>,
  holderOf: (name: Name) => number,
): Refusal | null {
  const names = Object.keys(changes) as Name[];
  return checkNamed(view, caller, { values: names.map((name) => changes[name]?.new), replaced: names.map(holderOf) });
}

/** System groups exist from the realm's creation on. */
function defaultHolder(view: View, creator: UserRecord, { default: holder }: GroupSetting): GroupSettingValue {
  if (holder === "creator") return { direct_members: [creator.id], direct_subgroups: [] };
  return view.groups.system(holder)?.id ?? 0;
}

/** A change of a permission's holder, with the group rows to store and delete. */
export interface ValueChange {
  /** Id of the new holder. */
  readonly id: number;
  /** Whether the id of `next` was used. */
  readonly takesId: boolean;
  /** The new value in output form, for events. */
  readonly value: GroupSettingValue;
  readonly effects: readonly Effect[];
}

/**
 * Applies `{new, old}` (spec 2.2): checks `old` first, then whether the value differs, then whether the new value is
 * allowed (D16). The anonymous group that held the permission before is reused or deleted.
 * @param next the anonymous group, if one is needed; the counter is left to the function that calls this one
 * @returns null if nothing changes
 */
export function changeGroupValue(
  view: View,
  named: NamedSetting,
  currentId: number,
  change: GroupSettingChange,
  next: NextGroup,
): ValueChange | null | Refusal {
  const current = shownGroupValue(view, currentId);
  const old = change.old ?? null;
  if (old !== null && !isSameGroupValue(normalGroupValue(view, old), current)) return refuse.expectationMismatch("old");
  const wanted = normalGroupValue(view, change.new);
  if (isSameGroupValue(wanted, current)) return null;
  const before = view.groups.get(currentId);
  const isReplaced = before !== undefined && before.name === null;
  const resolved = resolveGroupValue(view, named, wanted, isReplaced ? { ...next, id: currentId } : next);
  if (isRefusal(resolved)) return resolved;
  const { id, record } = resolved;
  const value =
    record === null ? id : { direct_members: [...record.memberIds], direct_subgroups: [...record.subgroupIds] };
  const stored = record === null ? [] : [effects.put("groups", id, record)];
  const gone = isReplaced && id !== currentId ? [effects.remove("groups", currentId)] : [];
  return { id, takesId: id === next.id, value, effects: [...stored, ...gone] };
}

/** Checks a named group (behaviour 3.4, in this order). */
function checkNamedGroup(view: View, { name, setting }: NamedSetting, id: number): GroupChange | Refusal {
  const group = view.groups.get(id);
  if (group === undefined || group.name === null) return refuse.invalidUserGroup();
  const deactivated = refuseDeactivated(group);
  if (deactivated !== null) return deactivated;
  if (!group.isSystem && setting.requiresSystemGroup) return refuse.systemGroupRequired(name);
  if (group.isSystem && !setting.allowedSystemGroups.includes(group.name as SystemGroupName)) {
    return refuse.badRequest(`'${name}' setting cannot be set to '${group.name}' group.`);
  }
  return { id, record: null };
}

function anonymousGroup(
  view: View,
  { name, setting }: NamedSetting,
  value: Exclude<GroupSettingValue, number>,
  { id, caller }: NextGroup,
): GroupChange | Refusal {
  if (setting.requiresSystemGroup) return refuse.systemGroupRequired(name);
  for (const memberId of value.direct_members) {
    const user = view.users.get(memberId);
    if (user === undefined) return refuse.badRequest(`Invalid user ID: ${memberId}`);
    if (!user.isActive) return refuse.badRequest("User is deactivated");
  }
  for (const subgroupId of value.direct_subgroups) {
    const group = view.groups.get(subgroupId);
    if (group === undefined || group.name === null) return refuse.badRequest(`Invalid user group ID: ${subgroupId}`);
    const deactivated = refuseDeactivated(group);
    if (deactivated !== null) return deactivated;
  }
  const record: GroupRecord = {
    id,
    name: null,
    description: "",
    isSystem: false,
    isActive: true,
    creatorId: caller === null ? null : personOf(view, caller).id,
    createdAt: view.now,
    memberIds: ascending(value.direct_members),
    subgroupIds: ascending(value.direct_subgroups),
    settings: {},
  };
  return { id, record };
}
