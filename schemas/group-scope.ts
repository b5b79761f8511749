/** The members of a user group at any depth (spec 2.2: subgroups). */

import type { SystemGroupName } from "./group-settings.ts";
import type { GroupId } from "./ids.ts";
import type { GroupRecord } from "./user-groups.ts";

/** A group with everything it contains, at any depth. */
export interface GroupScope {
  /** The group and its subgroups, except for subgroups of system groups. */
  readonly ids: ReadonlySet<number>;
  /** The system groups among them, whose members are determined by role. */
  readonly systemNames: readonly SystemGroupName[];
}

/** Number of users and groups that an anonymous group names. */
export function namesIn({ memberIds, subgroupIds }: GroupRecord): number {
  return memberIds.length + subgroupIds.length;
}

/** Whether a list in ascending order, as `GroupRecord.memberIds`, contains the id. */
export function includesId(ascending: readonly number[], id: number): boolean {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] as number) < id) low = middle + 1;
    else high = middle;
  }
  return ascending[low] === id;
}

/** Whether a group is among the others or in their scopes; visits each group once, however they are nested. */
export function isWithin(
  groupId: GroupId,
  others: Iterable<number>,
  groupOf: (id: number) => GroupRecord | undefined,
): boolean {
  const ids = new Set(others);
  for (const id of ids) {
    if (id === groupId) return true;
    const group = groupOf(id);
    if (group?.isSystem !== true) for (const subgroupId of group?.subgroupIds ?? []) ids.add(subgroupId);
  }
  return false;
}

/** Each group is visited once, even if it occurs repeatedly or contains itself. */
export function scopeOf(groupId: GroupId, groupOf: (id: number) => GroupRecord | undefined): GroupScope {
  const ids = new Set([groupId]);
  const systemNames: SystemGroupName[] = [];
  for (const id of ids) {
    const group = groupOf(id);
    if (group?.isSystem === true) systemNames.push(group.name as SystemGroupName);
    else for (const subgroupId of group?.subgroupIds ?? []) ids.add(subgroupId);
  }
  return { ids, systemNames };
}
