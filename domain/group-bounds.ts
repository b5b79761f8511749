/**
 * How many named groups, and how many direct members and subgroups of them, an organization and one person may have
 * (S3, D130). Requests that are applied in parts at that moment count with the parts that have been applied.
 */
import { type Refusal, refuse } from "../schemas/errors.ts";
import { limits } from "../schemas/limits.ts";
import type { GroupRecord } from "../schemas/user-groups.ts";
import type { UserRecord } from "../schemas/users.ts";
import { isAdministrator } from "./permissions.ts";
import type { View } from "./view.ts";

/** Why the caller may not create one more group, or null. */
export function checkGroupsLeft(view: View, caller: UserRecord): Refusal | null {
  if (view.groups.size >= limits.user_groups_per_realm_max) return refuse.badRequest("Too many user groups");
  if (isAdministrator(caller)) return null;
  const most = limits.user_groups_per_person_max;
  if (view.groups.createdBy(caller.id).groups < most) return null;
  return refuse.badRequest(`You have created too many user groups (maximum ${most}).`);
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
  const most = limits.group_memberships_per_person_max;
  const creator = creatorId === null ? undefined : view.users.get(creatorId);
  const isLimited = creator !== undefined && !isAdministrator(creator) && !isAdministrator(caller);
  if (isLimited && view.groups.createdBy(creator.id).memberships + added > most) {
    return refuse.badRequest(`The groups of their creator have too many members (maximum ${most}).`);
  }
  return view.groups.memberships + added <= limits.group_memberships_per_realm_max
    ? null
    : refuse.badRequest("The groups of this organization have too many members.");
}
