/**
 * Who may do what with user groups, and who is in them (spec 2.5; behaviour 2.6, 3.5, 3.6). Whoever manages a group may do
 * everything with it; administrators have no way around its settings, but `can_manage_all_groups` has. System groups are
 * nobody's to change.
 */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { allowsGuests, type UserGroupSettingName, userGroupSettings } from "../../schemas/group-settings.ts";
import type { GroupRecord, UserRecord } from "../../schemas/records.ts";
import type { RenderedContent } from "./markdown/resolve.ts";
import { hasRealmPermission, isGuest, isMember } from "./permissions.ts";
import type { View } from "./view.ts";

/** A group that has a name: what settings call a group. */
export type NamedGroup = GroupRecord & { readonly name: string };

/** Groups without a name stand behind one setting's value: for everybody else they are not there. */
export function namedGroup(view: View, id: number): NamedGroup | undefined {
  const group = view.groups.get(id);
  return group !== undefined && isNamed(group) ? group : undefined;
}

export function isNamed(group: GroupRecord): group is NamedGroup {
  return group.name !== null;
}

/** The group that holds a permission in a user group; nobody does in system groups. */
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

/** Changes of members: of oneself alone there is a permission more. */
const ownWay = { add: "can_join_group", remove: "can_leave_group" } as const;
const othersWay = { add: "can_add_members_group", remove: "can_remove_members_group" } as const;

/** @param userIds whom it is about */
export function canChangeMembers(
  view: View,
  user: UserRecord,
  group: GroupRecord,
  { op, userIds }: { readonly op: "add" | "remove"; readonly userIds: readonly number[] },
): boolean {
  if (group.isSystem) return false;
  if (canManageGroup(view, user, group) || hasGroupPermission(view, user, group, othersWay[op])) return true;
  const isOneself = userIds.every((id) => id === user.id);
  return isOneself && hasGroupPermission(view, user, group, ownWay[op]);
}

/** Who may add members may add groups; groups are taken away by who manages. */
export function canChangeSubgroups(view: View, user: UserRecord, group: GroupRecord, op: "add" | "remove"): boolean {
  if (group.isSystem) return false;
  return (
    canManageGroup(view, user, group) ||
    (op === "add" && hasGroupPermission(view, user, group, "can_add_members_group"))
  );
}

/** Silent mentions are free (behaviour 5.1). A deactivated group is mentioned by nobody. */
export function canMentionGroup(view: View, sender: UserRecord, group: GroupRecord): boolean {
  return group.isActive && hasGroupPermission(view, sender, group, "can_mention_group");
}

/** A message that mentions a group that its author may not mention is not sent. */
export function checkGroupMentions(view: View, rendered: RenderedContent): Refusal | null {
  const [id] = rendered.unmentionableGroupIds;
  if (id === undefined) return null;
  return refuse.badRequest(`You are not allowed to mention user group '${view.groups.get(id)?.name}'.`);
}

/** Ids of all active people in a group, directly, through subgroups or by role. */
export function everybodyWithin(view: View, groupId: number): Set<number> {
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

/** Ids of the groups within a group, at any depth, also within system groups; not its own, even where it is within itself. */
export function subgroupsWithin(view: View, group: GroupRecord): Set<number> {
  const ids = new Set(group.subgroupIds);
  for (const id of ids) for (const subgroupId of view.groups.get(id)?.subgroupIds ?? []) ids.add(subgroupId);
  ids.delete(group.id);
  return ids;
}
