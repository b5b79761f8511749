/** User groups as clients know them (spec 2.5; behaviour 3.1, 3.6). */
import { seconds } from "../domain/presence.ts";
import { directSystemGroups } from "../domain/system-groups.ts";
import type { View } from "../domain/view.ts";
import type { Section } from "./state-section.ts";

export const userGroupsState: Section = (view) => {
  const nobody = view.groups.system("role:nobody")?.id ?? 0;
  const groups = [...view.groups.all()].filter((group) => group.name !== null && group.isActive);
  const byRole = membersByRole(view);
  return {
    realm_user_groups: groups.map((group) => ({
      id: group.id,
      name: group.name,
      description: group.description,
      members: group.isSystem
        ? (byRole.get(group.name ?? "") ?? [])
        : activeMembers(view, view.groups.membersOf(group.id)),
      direct_subgroup_ids: [...group.subgroupIds],
      creator_id: group.creatorId,
      date_created: group.createdAt === null ? null : seconds(group.createdAt),
      is_system_group: group.isSystem,
      deactivated: !group.isActive,
      can_add_members_group: nobody,
      can_join_group: nobody,
      can_leave_group: nobody,
      can_manage_group: nobody,
      can_mention_group: nobody,
      can_remove_members_group: nobody,
    })),
  };
};

/** Direct members of the system groups, ascending. */
function membersByRole(view: View): ReadonlyMap<string, number[]> {
  const members = new Map<string, number[]>();
  for (const user of [...view.users.all()].sort((a, b) => a.id - b.id)) {
    if (!user.isActive) continue;
    for (const name of directSystemGroups(view, user)) {
      const known = members.get(name);
      if (known === undefined) members.set(name, [user.id]);
      else known.push(user.id);
    }
  }
  return members;
}

/** Deactivated people keep their place and are not shown (behaviour 2.20). */
function activeMembers(view: View, ids: Iterable<number>): number[] {
  return [...ids].filter((id) => view.users.get(id)?.isActive === true).sort((a, b) => a - b);
}
