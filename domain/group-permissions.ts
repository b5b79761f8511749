/**
 * Permissions of user groups and their members (spec 2.5; behaviour 2.6, 3.5, 3.6). A user who manages a group may do
 * everything with it. Administrators do not bypass its settings, but `can_manage_all_groups` does. System groups cannot
 * be changed.
 */

import { type Refusal, refuse } from "../schemas/errors.ts";
import { allowsGuests, type UserGroupSettingName, userGroupSettings } from "../schemas/group-settings.ts";
import type { GroupId, UserId } from "../schemas/ids.ts";
import type { GroupRecord } from "../schemas/user-groups.ts";
import type { UserRecord } from "../schemas/users.ts";
import type { RenderedContent } from "./markdown/resolve.ts";
import { hasRealmPermission, isGuest, isMember } from "./permissions.ts";
import type { View } from "./view.ts";

/** A group with a name, as opposed to an anonymous one. */
export type NamedGroup = GroupRecord & { readonly name: string };

/** A group without a name belongs to a single setting's value, and does not exist for anything else. */
export function namedGroup(view: View, id: number): NamedGroup | undefined {
  const group = view.groups.get(id);
  return group !== undefined && isNamed(group) ? group : undefined;
}

export function groupDeactivated(): Refusal {
  return refuse.badRequest("User group is deactivated.");
}

/** A deactivated group keeps what it has, but gets no new permission, supergroup or invitation (spec 2.5). */
export function refuseDeactivated({ isActive }: GroupRecord): Refusal | null {
  return isActive ? null : groupDeactivated();
}

export function isNamed(group: GroupRecord): group is NamedGroup {
  return group.name !== null;
}

/** The group that holds a permission of a user group; for system groups it is `role:nobody`. */
export function userGroupSettingId(view: View, group: GroupRecord, setting: UserGroupSettingName): number {
  return group.settings[setting] ?? view.groups.system("role:nobody")?.id ?? 0;
}

export function hasGroupPermission(
  view: View,
  user: UserRecord,
  group: GroupRecord,
  setting: UserGroupSettingName,
): boolean {
  if (isGuest(user) && !allowsGuests(userGroupSettings[setting])) return false;
  return isMember(view, user, userGroupSettingId(view, group, setting));
}

export function canManageGroup(view: View, user: UserRecord, group: GroupRecord): boolean {
  if (group.isSystem) return false;
  return (
    hasRealmPermission(view, user, "can_manage_all_groups") || hasGroupPermission(view, user, group, "can_manage_group")
  );
}

/** Membership changes: users need only the first permission for themselves. */
const ownWay = { add: "can_join_group", remove: "can_leave_group" } as const;
const othersWay = { add: "can_add_members_group", remove: "can_remove_members_group" } as const;

/** @param userIds the users to be added or removed */
export function canChangeMembers(
  view: View,
  user: UserRecord,
  group: GroupRecord,
  { op, userIds }: { readonly op: "add" | "remove"; readonly userIds: readonly UserId[] },
): boolean {
  if (group.isSystem) return false;
  if (canManageGroup(view, user, group) || hasGroupPermission(view, user, group, othersWay[op])) return true;
  const isOneself = userIds.every((id) => id === user.id);
  return isOneself && hasGroupPermission(view, user, group, ownWay[op]);
}

/** Users who may add members may also add subgroups; only managers may remove them. */
export function canChangeSubgroups(view: View, user: UserRecord, group: GroupRecord, op: "add" | "remove"): boolean {
  if (group.isSystem) return false;
  return (
    canManageGroup(view, user, group) ||
    (op === "add" && hasGroupPermission(view, user, group, "can_add_members_group"))
  );
}

/** Silent mentions need no permission (behaviour 5.1). A deactivated group cannot be mentioned. */
export function canMentionGroup(view: View, sender: UserRecord, group: GroupRecord): boolean {
  return group.isActive && hasGroupPermission(view, sender, group, "can_mention_group");
}

/** Rejects a message that mentions a group which its author may not mention. */
export function checkGroupMentions(view: View, rendered: RenderedContent): Refusal | null {
  const [id] = rendered.unmentionableGroupIds;
  if (id === undefined) return null;
  return refuse.badRequest(`You are not allowed to mention user group '${view.groups.get(id)?.name}'.`);
}

/** Ids of all active users in a group, directly, through subgroups or by role. */
export function everybodyWithin(view: View, groupId: GroupId): Set<number> {
  const ids = new Set<number>();
  const scope = view.groups.scope(groupId);
  if (scope === undefined) return ids;
  if (scope.systemNames.length > 0) {
    for (const user of view.users.all()) if (isMember(view, user, groupId)) ids.add(user.id);
    return ids;
  }
  for (const id of scope.ids) {
    for (const userId of view.groups.membersOf(id)) if (view.users.get(userId)?.isActive === true) ids.add(userId);
  }
  return ids;
}

/** Ids of all transitive subgroups of a group, including those within system groups, without the group itself. */
export function subgroupsWithin(view: View, group: GroupRecord): Set<number> {
  const ids = new Set(group.subgroupIds);
  for (const id of ids) for (const subgroupId of view.groups.get(id)?.subgroupIds ?? []) ids.add(subgroupId);
  ids.delete(group.id);
  return ids;
}
