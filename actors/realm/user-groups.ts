/** What a person's coming, going or changing role does to user groups (behaviour 2.8, 2.20, 3.1): events of members, no rows. */
import { channelGroupSettingNames } from "../../schemas/group-settings.ts";
import type { ChannelRecord, GroupRecord, UserRecord } from "../../schemas/records.ts";
import { channelGroupId } from "../../src/domain/permissions.ts";
import { directSystemGroups } from "../../src/domain/system-groups.ts";
import type { View } from "../../src/domain/view.ts";
import { type Effect, effects } from "../effects.ts";

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
  return group === undefined ? [] : [groupEvent(op, group, user)];
}

function groupEvent(op: "add_members" | "remove_members", group: GroupRecord, user: UserRecord): Effect {
  return effects.emit("user_group", { op, group_id: group.id, user_ids: [user.id] }, { to: "realm" });
}

/**
 * Of somebody who is active again: clients took them out of every group when they were deactivated (behaviour 2.20), and out
 * of the permissions of channels that name them.
 */
export function returnedGroupEvents(view: View, user: UserRecord): Effect[] {
  const named = view.groups
    .ofMember(user.id)
    .flatMap((id) => view.groups.get(id) ?? [])
    .filter((group) => group.name !== null && group.isActive);
  return [
    ...joinedGroupEvents(view, user),
    ...named.map((group) => groupEvent("add_members", group, user)),
    ...[...view.channels.all()].flatMap((channel) => permissionEvents(view, channel, user)),
  ];
}

function permissionEvents(view: View, channel: ChannelRecord, user: UserRecord): Effect[] {
  return channelGroupSettingNames.flatMap((property) => {
    const group = view.groups.get(channelGroupId(view, channel, property));
    if (group === undefined || group.name !== null || !group.memberIds.includes(user.id)) return [];
    // The person counts again, though the view still shows them as deactivated.
    const value = {
      direct_members: group.memberIds.filter((id) => id === user.id || view.users.get(id)?.isActive === true),
      direct_subgroups: [...group.subgroupIds],
    };
    const body = { op: "update", property, value, stream_id: channel.id, name: channel.name };
    return [effects.emit("stream", body, { to: "channel-watchers", id: channel.id, except: [] })];
  });
}
