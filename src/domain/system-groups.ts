/** Which system groups a person is a direct member of (behaviour 3.1): what /register and `user_group` events tell clients. */
import type { SystemGroupName } from "../../schemas/group-settings.ts";
import type { UserRecord } from "../../schemas/records.ts";
import { type Role, roles } from "../../schemas/types.ts";
import { isInSystemGroup } from "./permissions.ts";
import type { View } from "./view.ts";

const groupOfRole: Readonly<Record<Role, SystemGroupName>> = {
  [roles.owner]: "role:owners",
  [roles.administrator]: "role:administrators",
  [roles.moderator]: "role:moderators",
  [roles.member]: "role:members",
  [roles.guest]: "role:everyone",
};

/** The role's own group, and full members beside members once the waiting period is over. */
export function directSystemGroups(view: View, user: UserRecord): readonly SystemGroupName[] {
  const own = groupOfRole[user.role];
  const isFullMember = user.role === roles.member && isInSystemGroup(view, user, "role:fullmembers");
  return isFullMember ? [own, "role:fullmembers"] : [own];
}
