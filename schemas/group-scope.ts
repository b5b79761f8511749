/** What a user group is made of, at any depth (spec 2.2: subgroups). */
import type { SystemGroupName } from "./group-settings.ts";
import type { GroupRecord } from "./records.ts";

/** Everything that a group is made of, at any depth. */
export interface GroupScope {
  /** The group itself and the groups within it, but for what is within system groups. */
  readonly ids: ReadonlySet<number>;
  /** The system groups among them, whose members are who has the role. */
  readonly systemNames: readonly SystemGroupName[];
}

/** A group that comes up twice, even within itself, is looked at once. */
export function scopeOf(groupId: number, groupOf: (id: number) => GroupRecord | undefined): GroupScope {
  const ids = new Set([groupId]);
  const systemNames: SystemGroupName[] = [];
  for (const id of ids) {
    const group = groupOf(id);
    if (group?.isSystem === true) systemNames.push(group.name as SystemGroupName);
    else for (const subgroupId of group?.subgroupIds ?? []) ids.add(subgroupId);
  }
  return { ids, systemNames };
}
