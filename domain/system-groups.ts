/** The system groups of which a user is a direct member (behaviour 3.1), as in /register and `user_group` events. */
import type { SystemGroupName } from "../schemas/group-settings.ts";
import { type Role, roles } from "../schemas/types.ts";
import type { UserRecord } from "../schemas/users.ts";
import { waitingPeriodMs } from "./permissions.ts";
import type { View } from "./view.ts";

const groupsOfRole: Readonly<Record<Role, readonly SystemGroupName[]>> = {
  [roles.owner]: ["role:owners"],
  [roles.administrator]: ["role:administrators"],
  [roles.moderator]: ["role:moderators"],
  [roles.member]: ["role:members"],
  [roles.guest]: ["role:everyone"],
};

/** The role's own group, plus full members for members after the waiting period. */
export function directSystemGroups(view: View, user: UserRecord): readonly SystemGroupName[] {
  return systemGroupsNow(view)(user);
}

/** The same for many users at one moment. */
export function systemGroupsNow(view: View): (user: UserRecord) => readonly SystemGroupName[] {
  const fullSince = view.now - waitingPeriodMs(view);
  return ({ role, joinedAt }) => (role === roles.member && joinedAt <= fullSince ? ofFullMembers : groupsOfRole[role]);
}

const ofFullMembers: readonly SystemGroupName[] = ["role:members", "role:fullmembers"];
