/**
 * User group events when users join, are deactivated or reactivated, or change roles (behaviour 2.8, 2.20, 3.1). No
 * rows are written.
 *
 * Users who are named individually in the organization's permissions (spec 2.2). Deactivated users are not shown.
 * Clients remove a deactivated user themselves; those that do not receive the deactivation receive the new values. On
 * reactivation everybody receives them (OpenAPI, realm update_dict).
 */
import { userGroupSettingId } from "../../domain/group-permissions.ts";
import { shownGroupValue } from "../../domain/group-values.ts";
import { withOverrides } from "../../domain/overlay-view.ts";
import { sharesConversation } from "../../domain/people.ts";
import {
  canAccessAllUsers,
  channelGroupId,
  hasMetadataAccess,
  isGuest,
  realmGroupId,
} from "../../domain/permissions.ts";
import { directSystemGroups } from "../../domain/system-groups.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { includesId } from "../../schemas/group-scope.ts";
import {
  channelGroupSettingNames,
  realmGroupSettingNames,
  userGroupSettingNames,
} from "../../schemas/group-settings.ts";
import type { GroupId } from "../../schemas/ids.ts";
import type { NewPermissions } from "../../schemas/realm-settings.ts";
import type { Audience } from "../../schemas/runtime.ts";
import type { GroupSettingValue } from "../../schemas/types.ts";
import type { GroupRecord } from "../../schemas/user-groups.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Effect, effects } from "../protocol/decision.ts";
import { people, watchers } from "../rules/channel-events.ts";
import { groupUpdateEvent, membersEvent } from "./group-events.ts";
import { realmEvent, realmEventBody } from "./realm-events.ts";

/** @param after the account after the change */
export function holderLeaves(view: View, after: UserRecord): Effect[] {
  const data = valuesNaming(view, after);
  if (data === null) return [];
  const ids = guestsWithoutAccess(view, after);
  return ids.length === 0 ? [] : [effects.emit("realm", realmEventBody(data), { to: "users", ids })];
}

/**
 * Ids of guests, ascending, who do not receive the user's deactivation. This includes guests who saw the user only in
 * shared channels; the view still contains those channels.
 */
function guestsWithoutAccess(view: View, after: UserRecord): number[] {
  if (after.botType !== null) return [];
  return [...view.users.all()]
    .filter((user) => user.isActive && isGuest(user) && user.id !== after.id && !canAccessAllUsers(view, user))
    .filter((guest) => !sharesConversation(view, guest.id, after.id))
    .map((user) => user.id)
    .sort((a, b) => a - b);
}

/** @param after the account after the change */
export function holderReturns(view: View, after: UserRecord): Effect[] {
  const data = valuesNaming(view, after);
  return data === null ? [] : [realmEvent(data)];
}

/** null: no permission names the user. */
function valuesNaming(view: View, after: UserRecord): NewPermissions | null {
  const then = withOverrides(view, { users: new Map([[after.id, after]]) });
  const named = realmGroupSettingNames.filter((name) => {
    const group = view.groups.get(realmGroupId(view, name));
    return group !== undefined && group.name === null && group.memberIds.includes(after.id);
  });
  if (named.length === 0) return null;
  return Object.fromEntries(named.map((name) => [name, shownGroupValue(then, realmGroupId(view, name))]));
}

/** Events after a role change. To clients, a deactivated user is in no group. */
export function roleGroupEvents(view: View, before: UserRecord, after: UserRecord): Effect[] {
  if (!after.isActive) return [];
  const [was, is] = [directSystemGroups(view, before), directSystemGroups(view, after)];
  return [
    ...was.filter((name) => !is.includes(name)).flatMap((name) => memberEvent(view, "remove_members", name, after)),
    ...is.filter((name) => !was.includes(name)).flatMap((name) => memberEvent(view, "add_members", name, after)),
  ];
}

/** For a new user. */
export function joinedGroupEvents(view: View, user: UserRecord): Effect[] {
  return directSystemGroups(view, user).flatMap((name) => memberEvent(view, "add_members", name, user));
}

function memberEvent(view: View, op: "add_members" | "remove_members", name: string, user: UserRecord): Effect[] {
  const group = view.groups.system(name);
  return group === undefined ? [] : membersEvent(group, op, [user.id]);
}

/**
 * For a deactivated user: clients remove the user from all groups themselves (behaviour 2.20). Those that do not
 * receive the deactivation get explicit events (OpenAPI, user_group remove_members and update, stream update).
 * @param user the account after the change
 */
export function departedGroupEvents(view: View, user: UserRecord): Effect[] {
  const guestIds = guestsWithoutAccess(view, user);
  if (guestIds.length === 0) return [];
  const audience: Audience = { to: "users", ids: guestIds };
  const named = view.groups.ofMember(user.id).flatMap((id) => view.groups.get(id) ?? []);
  const system = directSystemGroups(view, user).flatMap((name) => view.groups.system(name) ?? []);
  const isNamed = view.groups.isNamedInPermissions(user.id);
  return [
    ...[...system, ...named].flatMap((group) => membersEvent(group, "remove_members", [user.id], audience)),
    ...(isNamed
      ? [...view.groups.allNamed()].flatMap((group) => groupPermissionEvents(view, group, user, audience))
      : []),
    ...(isNamed
      ? [...view.channels.all()].flatMap((channel) => departedPermissions(view, channel, user, guestIds))
      : []),
  ];
}

/** For a channel whose permissions name the user; sent to those of the guests who can see the channel. */
function departedPermissions(
  view: View,
  channel: ChannelRecord,
  user: UserRecord,
  guestIds: readonly number[],
): Effect[] {
  const ids = guestIds.filter((id) => {
    const guest = view.users.get(id);
    return guest !== undefined && hasMetadataAccess(view, guest, channel);
  });
  return ids.length === 0 ? [] : permissionEvents(view, channel, user, people(channel, ids));
}

/**
 * For a reactivated user: on deactivation, clients removed the user from all groups (behaviour 2.20) and from the
 * permissions of channels and groups that name them.
 */
export function returnedGroupEvents(view: View, user: UserRecord): Effect[] {
  const named = view.groups.ofMember(user.id).flatMap((id) => view.groups.get(id) ?? []);
  // Skips the scans if no permission names the user.
  const isNamed = view.groups.isNamedInPermissions(user.id);
  return [
    ...joinedGroupEvents(view, user),
    ...named.flatMap((group) => membersEvent(group, "add_members", [user.id])),
    ...(isNamed ? [...view.groups.allNamed()].flatMap((group) => groupPermissionEvents(view, group, user)) : []),
    ...(isNamed ? [...view.channels.all()].flatMap((channel) => permissionEvents(view, channel, user)) : []),
  ];
}

function permissionEvents(view: View, channel: ChannelRecord, user: UserRecord, audience?: Audience): Effect[] {
  return channelGroupSettingNames.flatMap((property) => {
    const value = valueWith(view, channelGroupId(view, channel, property), user);
    if (value === null) return [];
    const body = { op: "update" as const, property, value, stream_id: channel.id, name: channel.name };
    return [effects.emit("stream", body, audience ?? watchers(channel, []))];
  });
}

function groupPermissionEvents(view: View, group: GroupRecord, user: UserRecord, audience?: Audience): Effect[] {
  return userGroupSettingNames.flatMap((property) => {
    const value = valueWith(view, userGroupSettingId(view, group, property), user);
    return value === null ? [] : [groupUpdateEvent(group, { [property]: value }, audience)];
  });
}

/**
 * A permission's value in output form after the change of `user`, which the view does not contain yet.
 * @returns null if the permission does not name the user
 */
function valueWith(view: View, groupId: GroupId, user: UserRecord): GroupSettingValue | null {
  const group = view.groups.get(groupId);
  if (group === undefined || group.name !== null || !includesId(group.memberIds, user.id)) return null;
  return {
    direct_members: group.memberIds.filter((id) => (id === user.id ? user : view.users.get(id))?.isActive === true),
    direct_subgroups: [...group.subgroupIds],
  };
}
