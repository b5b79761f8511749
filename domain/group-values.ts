/**
 * Group-setting values in requests and answers (spec 2.2; behaviour 3.2): the id of a named group, or the members of an
 * anonymous one.
 */
import type { GroupId } from "../schemas/ids.ts";
import type { GroupSettingValue } from "../schemas/types.ts";
import type { View } from "./view.ts";

/** The output form: the id of a named group, or the active members and subgroups of an anonymous one, ascending. */
export function shownGroupValue(view: View, groupId: GroupId): GroupSettingValue {
  const group = view.groups.get(groupId);
  if (group === undefined || group.name !== null) return groupId;
  return {
    direct_members: group.memberIds.filter((id) => view.users.get(id)?.isActive === true),
    direct_subgroups: [...group.subgroupIds],
  };
}

/** A single subgroup is used as it is, and an empty group becomes `role:nobody`. */
export function normalGroupValue(view: View, value: GroupSettingValue): GroupSettingValue {
  if (typeof value === "number" || value.direct_members.length > 0) return value;
  if (value.direct_subgroups.length === 0) return view.groups.system("role:nobody")?.id ?? value;
  const only = value.direct_subgroups[0];
  return new Set(value.direct_subgroups).size === 1 && only !== undefined ? only : value;
}

/** Ids compare as ids and lists as sets; the two forms are never equal. Both values must be normalized. */
export function isSameGroupValue(a: GroupSettingValue, b: GroupSettingValue): boolean {
  if (typeof a === "number" || typeof b === "number") return a === b;
  return isSameSet(a.direct_members, b.direct_members) && isSameSet(a.direct_subgroups, b.direct_subgroups);
}

function isSameSet(a: readonly number[], b: readonly number[]): boolean {
  const [left, right] = [new Set(a), new Set(b)];
  return left.size === right.size && [...left].every((id) => right.has(id));
}

export function ascending(ids: Iterable<number>): number[] {
  return [...new Set(ids)].sort((a, b) => a - b);
}
