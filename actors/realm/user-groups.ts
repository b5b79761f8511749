/** What a person's coming, going or changing role does to user groups (behaviour 2.8, 2.20, 3.1): events of members, no rows. */
import { channelGroupSettingNames, userGroupSettingNames } from "../../schemas/group-settings.ts";
import type { Audience, ChannelRecord, GroupRecord, UserRecord } from "../../schemas/records.ts";
import type { GroupSettingValue } from "../../schemas/types.ts";
import { userGroupSettingId } from "../../src/domain/group-permissions.ts";
import { channelGroupId, hasMetadataAccess } from "../../src/domain/permissions.ts";
import { directSystemGroups } from "../../src/domain/system-groups.ts";
import type { View } from "../../src/domain/view.ts";
import { type Effect, effects } from "../effects.ts";
import { people, watchers } from "./channel-events.ts";
import { groupUpdateEvent, membersEvent } from "./group-events.ts";
import { strangersTo } from "./realm-holders.ts";

/** After a change of role. Whoever is deactivated is shown in no group, before and after. */
export function roleGroupEvents(view: View, before: UserRecord, after: UserRecord): Effect[] {
  if (!after.isActive) return [];
  const [was, is] = [directSystemGroups(view, before), directSystemGroups(view, after)];
  return [
    ...was.filter((name) => !is.includes(name)).flatMap((name) => memberEvent(view, "remove_members", name, after)),
    ...is.filter((name) => !was.includes(name)).flatMap((name) => memberEvent(view, "add_members", name, after)),
  ];
}

/** Of somebody new. */
export function joinedGroupEvents(view: View, user: UserRecord): Effect[] {
  return directSystemGroups(view, user).flatMap((name) => memberEvent(view, "add_members", name, user));
}

function memberEvent(view: View, op: "add_members" | "remove_members", name: string, user: UserRecord): Effect[] {
  const group = view.groups.system(name);
  return group === undefined ? [] : membersEvent(group, op, [user.id]);
}

/**
 * Of somebody who is deactivated: clients take them out of every group themselves (behaviour 2.20). Who cannot see it is told
 * (OpenAPI, user_group remove_members and update, stream update).
 * @param user the account as it will be
 */
export function departedGroupEvents(view: View, user: UserRecord): Effect[] {
  const strangers = strangersTo(view, user);
  if (strangers.length === 0) return [];
  const audience: Audience = { to: "users", ids: strangers };
  const own = view.groups.ofMember(user.id).flatMap((id) => view.groups.get(id) ?? []);
  const named = own.filter((group) => group.name !== null);
  const system = directSystemGroups(view, user).flatMap((name) => view.groups.system(name) ?? []);
  const isNamed = named.length < own.length;
  return [
    ...[...system, ...named].flatMap((group) => membersEvent(group, "remove_members", [user.id], audience)),
    ...(isNamed ? [...view.groups.all()].flatMap((group) => groupPermissionEvents(view, group, user, audience)) : []),
    ...(isNamed
      ? [...view.channels.all()].flatMap((channel) => departedPermissions(view, channel, user, strangers))
      : []),
  ];
}

/** Of a channel whose permissions name the person, to those of the strangers who know the channel. */
function departedPermissions(
  view: View,
  channel: ChannelRecord,
  user: UserRecord,
  strangers: readonly number[],
): Effect[] {
  const ids = strangers.filter((id) => {
    const guest = view.users.get(id);
    return guest !== undefined && hasMetadataAccess(view, guest, channel);
  });
  return ids.length === 0 ? [] : permissionEvents(view, channel, user, people(channel, ids));
}

/**
 * Of somebody who is active again: clients took them out of every group when they were deactivated (behaviour 2.20), and out
 * of the permissions of channels and groups that name them.
 */
export function returnedGroupEvents(view: View, user: UserRecord): Effect[] {
  const own = view.groups.ofMember(user.id).flatMap((id) => view.groups.get(id) ?? []);
  const named = own.filter((group) => group.name !== null);
  // Nothing is looked through for who is named by no permission.
  const isNamed = named.length < own.length;
  return [
    ...joinedGroupEvents(view, user),
    ...named.flatMap((group) => membersEvent(group, "add_members", [user.id])),
    ...(isNamed ? [...view.groups.all()].flatMap((group) => groupPermissionEvents(view, group, user)) : []),
    ...(isNamed ? [...view.channels.all()].flatMap((channel) => permissionEvents(view, channel, user)) : []),
  ];
}

function permissionEvents(view: View, channel: ChannelRecord, user: UserRecord, audience?: Audience): Effect[] {
  return channelGroupSettingNames.flatMap((property) => {
    const value = valueWith(view, channelGroupId(view, channel, property), user);
    if (value === null) return [];
    const body = { op: "update", property, value, stream_id: channel.id, name: channel.name };
    return [effects.emit("stream", body, audience ?? watchers(channel, []))];
  });
}

function groupPermissionEvents(view: View, group: GroupRecord, user: UserRecord, audience?: Audience): Effect[] {
  return userGroupSettingNames.flatMap((property) => {
    const value = group.name === null ? null : valueWith(view, userGroupSettingId(view, group, property), user);
    return value === null ? [] : [groupUpdateEvent(group, { [property]: value }, audience)];
  });
}

/**
 * A permission's value in output form, with somebody as they will be, which the view does not show yet.
 * @returns null: it does not name them
 */
function valueWith(view: View, groupId: number, user: UserRecord): GroupSettingValue | null {
  const group = view.groups.get(groupId);
  if (group === undefined || group.name !== null || !group.memberIds.includes(user.id)) return null;
  return {
    direct_members: group.memberIds.filter((id) => (id === user.id ? user : view.users.get(id))?.isActive === true),
    direct_subgroups: [...group.subgroupIds],
  };
}
