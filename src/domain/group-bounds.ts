/**
 * How many named groups, and how many direct members and subgroups of them, an organization and one person may have (S3, D130). The sums
 * are computed when somebody asks for more: that is rare, and there are at most `user_groups_per_realm_max` groups.
 * Requests that are applied in parts at that moment count with the parts that have been applied.
 */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { GroupRecord } from "../../schemas/user-groups.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { isAdministrator } from "./permissions.ts";
import type { View } from "./view.ts";

/** Why the caller may not create one more group, or null. */
export function checkGroupsLeft(view: View, caller: UserRecord): Refusal | null {
  if (view.groups.size >= limits.user_groups_per_realm_max) return refuse.badRequest("Too many user groups");
  if (isAdministrator(caller)) return null;
  const most = limits.user_groups_per_person_max;
  let own = 0;
  for (const { creatorId } of view.groups.allNamed()) if (creatorId === caller.id) own++;
  return own < most ? null : refuse.badRequest(`You have created too many user groups (maximum ${most}).`);
}

/**
 * Why the group may not get so many more members, or null.
 * @param added number of users and subgroups that are added, less those that are removed
 */
export function checkMembershipsLeft(
  view: View,
  caller: UserRecord,
  { creatorId }: Pick<GroupRecord, "creatorId">,
  added: number,
): Refusal | null {
  if (added <= 0) return null;
  let all = added;
  let ofCreator = added;
  for (const group of view.groups.allNamed()) {
    const size = view.groups.membersOf(group.id).size + group.subgroupIds.length;
    all += size;
    if (group.creatorId === creatorId) ofCreator += size;
  }
  const most = limits.group_memberships_per_person_max;
  const creator = creatorId === null ? undefined : view.users.get(creatorId);
  const isLimited = creator !== undefined && !isAdministrator(creator) && !isAdministrator(caller);
  if (isLimited && ofCreator > most) {
    return refuse.badRequest(`The groups of their creator have too many members (maximum ${most}).`);
  }
  return all <= limits.group_memberships_per_realm_max
    ? null
    : refuse.badRequest("The groups of this organization have too many members.");
}
