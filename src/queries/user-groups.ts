/** User group objects (spec 2.5; behaviour 3.1, 3.6), and their members and subgroups. */

import {
  everybodyWithin,
  isNamed,
  type NamedGroup,
  subgroupsWithin,
  userGroupSettingId,
} from "../../domain/group-permissions.ts";
import { ascending, shownGroupValue } from "../../domain/group-values.ts";
import { isMember } from "../../domain/permissions.ts";
import { seconds } from "../../domain/presence.ts";
import { directSystemGroups, systemGroupsNow } from "../../domain/system-groups.ts";
import type { View } from "../../domain/view.ts";
import { type UserGroupSettingName, userGroupSettingNames } from "../../schemas/group-settings.ts";
import type { GroupSettingValue } from "../../schemas/types.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Section } from "./state-section.ts";

export const userGroupsState: Section<"realm_user_groups"> = (view, _user, { includesDeactivatedGroups }) => ({
  realm_user_groups: userGroups(view, includesDeactivatedGroups),
});

/** Ordered by id; system groups have the lowest ones. */
export function userGroups(view: View, includesDeactivated: boolean) {
  const byRole = membersByRole(view);
  return [...view.groups.allNamed()]
    .filter(isNamed)
    .filter((group) => group.isActive || includesDeactivated)
    .sort((a, b) => a.id - b.id)
    .map((group) =>
      groupBody(view, group, group.isSystem ? (byRole.get(group.name) ?? []) : directMembers(view, group)),
    );
}

/** @param members ids of active direct members, ascending */
export function groupBody(view: View, group: NamedGroup, members = directMembers(view, group)) {
  return {
    id: group.id,
    name: group.name,
    description: group.description,
    members,
    direct_subgroup_ids: [...group.subgroupIds],
    creator_id: group.creatorId,
    date_created: group.createdAt === null ? null : seconds(group.createdAt),
    is_system_group: group.isSystem,
    deactivated: !group.isActive,
    ...(Object.fromEntries(
      userGroupSettingNames.map((name) => [name, shownGroupValue(view, userGroupSettingId(view, group, name))]),
    ) as Record<UserGroupSettingName, GroupSettingValue>),
  };
}

/** Direct members of the system groups, ascending. */
function membersByRole(view: View): ReadonlyMap<string, number[]> {
  const members = new Map<string, number[]>();
  const groupsOf = systemGroupsNow(view);
  for (const user of view.users.all()) {
    if (!user.isActive) continue;
    for (const name of groupsOf(user)) {
      const known = members.get(name);
      if (known === undefined) members.set(name, [user.id]);
      else known.push(user.id);
    }
  }
  for (const ids of members.values()) ids.sort((a, b) => a - b);
  return members;
}

/** Deactivated users stay members but are not shown (behaviour 2.20). */
function directMembers(view: View, group: NamedGroup): number[] {
  if (group.isSystem) return [...(membersByRole(view).get(group.name) ?? [])];
  return ascending([...view.groups.membersOf(group.id)].filter((id) => view.users.get(id)?.isActive === true));
}

/** Ascending. */
export function memberIds(view: View, group: NamedGroup, isDirectOnly: boolean): number[] {
  return isDirectOnly ? directMembers(view, group) : ascending(everybodyWithin(view, group.id));
}

export function isGroupMember(view: View, group: NamedGroup, user: UserRecord, isDirectOnly: boolean): boolean {
  if (!isDirectOnly) return isMember(view, user, group.id);
  if (!user.isActive) return false;
  if (!group.isSystem) return view.groups.membersOf(group.id).has(user.id);
  return directSystemGroups(view, user).some((name) => name === group.name);
}

/** Ascending. */
export function subgroupIds(view: View, group: NamedGroup, isDirectOnly: boolean): number[] {
  return ascending(isDirectOnly ? group.subgroupIds : subgroupsWithin(view, group));
}
