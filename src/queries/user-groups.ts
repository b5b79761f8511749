/** User groups as clients know them (spec 2.5; behaviour 3.1, 3.6). */
import type { systemGroupNames } from "../../schemas/group-settings.ts";
import type { UserRecord } from "../../schemas/records.ts";
import { seconds } from "../domain/presence.ts";
import type { Section } from "./state-section.ts";

export const userGroupsState: Section = (view) => {
  const nobody = view.groups.system("role:nobody")?.id ?? 0;
  const groups = [...view.groups.all()].filter((group) => group.name !== null && group.isActive);
  const users = [...view.users.all()].filter((user) => user.isActive);
  return {
    realm_user_groups: groups.map((group) => ({
      id: group.id,
      name: group.name,
      description: group.description,
      members: group.isSystem
        ? users.filter((user) => directSystemGroup(user) === group.name).map((user) => user.id)
        : [...group.memberIds],
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

/** The one system group that a role is a direct member of (behaviour 3.1). */
function directSystemGroup(user: UserRecord): string {
  const byRole: Readonly<Record<number, (typeof systemGroupNames)[number]>> = {
    100: "role:owners",
    200: "role:administrators",
    300: "role:moderators",
    400: "role:members",
    600: "role:everyone",
  };
  return byRole[user.role] ?? "role:nobody";
}
