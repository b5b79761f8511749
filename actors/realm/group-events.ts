/**
 * What is told of user groups (public API, user_group events; behaviour 2.6). Clients without the capability
 * `include_deactivated_groups` know active groups only: an event says of which kind its group was, and is shown accordingly
 * (src/realtime/user-group-events.ts).
 */
import type { Audience, GroupRecord } from "../../schemas/records.ts";
import { type Effect, effects } from "../effects.ts";

const everybody: Audience = { to: "realm" };

/** @param group as it is when the event happens */
export function groupEvent(
  group: GroupRecord,
  body: Readonly<Record<string, unknown>>,
  audience: Audience = everybody,
): Effect {
  const { op, ...rest } = body;
  const mark = group.isActive ? {} : { is_of_deactivated: true };
  return effects.emit("user_group", { op, group_id: group.id, ...rest, ...mark }, audience);
}

/** One property or more of a group have other values. */
export function groupUpdateEvent(
  group: GroupRecord,
  data: Readonly<Record<string, unknown>>,
  audience: Audience = everybody,
): Effect {
  return groupEvent(group, { op: "update", data }, audience);
}

/** @param userIds ascending */
export function membersEvent(
  group: GroupRecord,
  op: "add_members" | "remove_members",
  userIds: readonly number[],
  audience: Audience = everybody,
): Effect[] {
  return userIds.length === 0 ? [] : [groupEvent(group, { op, user_ids: userIds }, audience)];
}

/** @param subgroupIds ascending */
export function subgroupsEvent(
  group: GroupRecord,
  op: "add_subgroups" | "remove_subgroups",
  subgroupIds: readonly number[],
): Effect[] {
  return subgroupIds.length === 0 ? [] : [groupEvent(group, { op, direct_subgroup_ids: subgroupIds })];
}
