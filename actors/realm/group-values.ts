/**
 * Group-setting values (spec 2.2; behaviour 3.2 to 3.4): from what a request says to the group that holds a permission. The
 * same for channels, user groups and the organization.
 */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { GroupSetting, SystemGroupName } from "../../schemas/group-settings.ts";
import type { GroupRecord, UserRecord } from "../../schemas/records.ts";
import type { GroupSettingChange, GroupSettingValue } from "../../schemas/types.ts";
import { ascending, isSameGroupValue, normalGroupValue, shownGroupValue } from "../../src/domain/group-values.ts";
import type { View } from "../../src/domain/view.ts";
import { type Effect, effects } from "../effects.ts";

/** A setting's name with its row of the table. */
export interface NamedSetting {
  readonly name: string;
  readonly setting: GroupSetting;
}

export interface GroupChange {
  readonly id: number;
  /** The anonymous group that has to be stored, or null when a named one holds the permission. */
  readonly record: GroupRecord | null;
}

/** A value for a permission that nobody holds yet. @param nextId id for the anonymous group, if one is needed */
export function resolveGroupValue(
  view: View,
  named: NamedSetting,
  value: GroupSettingValue,
  nextId: number,
): GroupChange | Refusal {
  const normal = normalGroupValue(view, value);
  return typeof normal === "number"
    ? checkNamedGroup(view, named, normal)
    : anonymousGroup(view, named, normal, nextId);
}

/** Who holds each permission of something new, and the anonymous groups that it needs. */
export interface ResolvedSettings<Name extends string> {
  readonly ids: Partial<Record<Name, number>>;
  readonly records: readonly GroupRecord[];
}

/**
 * Every permission of a new channel or user group: as it was asked for, else its default.
 * @param wanted.firstId id of the first anonymous group that is needed
 * @param check what else a holder must be
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
    const change = resolveGroupValue(view, { name, setting }, value, wanted.firstId + records.length);
    if ("kind" in change) return change;
    const refused = check(name, change);
    if (refused !== null) return refused;
    ids[name] = change.id;
    if (change.record !== null) records.push(change.record);
  }
  return { ids, records };
}

/** System groups are there from the founding on. */
function defaultHolder(view: View, creator: UserRecord, { default: holder }: GroupSetting): GroupSettingValue {
  if (holder === "creator") return { direct_members: [creator.id], direct_subgroups: [] };
  return view.groups.system(holder)?.id ?? 0;
}

/** A change of who holds a permission, and what of the groups' rows comes and goes by it. */
export interface ValueChange {
  /** Of the group that holds it from now on. */
  readonly id: number;
  /** Whether `nextId` was taken. */
  readonly takesId: boolean;
  /** What events tell: the new value in output form. */
  readonly value: GroupSettingValue;
  readonly effects: readonly Effect[];
}

/**
 * `{new, old}` (spec 2.2): `old` first, then whether anything changes at all, then whether the new value may be (D16). An
 * anonymous group that held it before is used again or removed.
 * @param nextId id for the anonymous group, if one is needed; the caller counts it
 * @returns null: nothing changes
 */
export function changeGroupValue(
  view: View,
  named: NamedSetting,
  currentId: number,
  change: GroupSettingChange,
  nextId: number,
): ValueChange | null | Refusal {
  const current = shownGroupValue(view, currentId);
  const old = change.old ?? null;
  if (old !== null && !isSameGroupValue(normalGroupValue(view, old), current)) return refuse.expectationMismatch("old");
  const wanted = normalGroupValue(view, change.new);
  if (isSameGroupValue(wanted, current)) return null;
  const before = view.groups.get(currentId);
  const isReplaced = before !== undefined && before.name === null;
  const resolved = resolveGroupValue(view, named, wanted, isReplaced ? currentId : nextId);
  if ("kind" in resolved) return resolved;
  const { id, record } = resolved;
  const value =
    record === null ? id : { direct_members: [...record.memberIds], direct_subgroups: [...record.subgroupIds] };
  const stored = record === null ? [] : [effects.put("groups", id, record)];
  const gone = isReplaced && id !== currentId ? [effects.remove("groups", currentId)] : [];
  return { id, takesId: id === nextId, value, effects: [...stored, ...gone] };
}

/** The checks of a named group (behaviour 3.4, in this order). */
function checkNamedGroup(view: View, { name, setting }: NamedSetting, id: number): GroupChange | Refusal {
  const group = view.groups.get(id);
  if (group === undefined || group.name === null) return refuse.invalidUserGroup();
  if (!group.isActive) return refuse.badRequest("User group is deactivated.");
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
  id: number,
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
    if (!group.isActive) return refuse.badRequest("User group is deactivated.");
  }
  const record: GroupRecord = {
    id,
    name: null,
    description: "",
    isSystem: false,
    isActive: true,
    creatorId: null,
    createdAt: view.now,
    memberIds: ascending(value.direct_members),
    subgroupIds: ascending(value.direct_subgroups),
    settings: {},
  };
  return { id, record };
}
