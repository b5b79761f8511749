/** The system groups of which a user is a direct member (behaviour 3.1), as in /register and `user_group` events. */
import type { SystemGroupName } from "../schemas/group-settings.ts";
import { type Role, roles } from "../schemas/types.ts";
import type { UserRecord } from "../schemas/users.ts";
import { isInSystemGroup } from "./permissions.ts";
import type { View } from "./view.ts";

const groupOfRole: Readonly<Record<Role, SystemGroupName>> = {
  [roles.owner]: "role:owners",
  [roles.administrator]: "role:administrators",
  [roles.moderator]: "role:moderators",
  [roles.member]: "role:members",
  [roles.guest]: "role:everyone",
};

/** The role's own group, plus full members for members after the waiting period. */
export function directSystemGroups(view: View, user: UserRecord): readonly SystemGroupName[] {
  const own = groupOfRole[user.role];
  const isFullMember = user.role === roles.member && isInSystemGroup(view, user, "role:fullmembers");
  return isFullMember ? [own, "role:fullmembers"] : [own];
}
