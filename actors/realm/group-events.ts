/**
 * Events about user groups (public API, user_group events; behaviour 2.6). Only clients with the capability
 * `include_deactivated_groups` see deactivated groups, so each event records whether its group was active
 * (src/edge/realtime/event-builders.ts).
 */

import type { StoredBody } from "../../schemas/events.ts";
import type { GroupId, UserId } from "../../schemas/ids.ts";
import type { Audience } from "../../schemas/runtime.ts";
import type { GroupRecord } from "../../schemas/user-groups.ts";
import { type Effect, effects } from "../protocol/decision.ts";

const everybody: Audience = { to: "realm" };

type GroupBody = StoredBody<"user_group">;
/** An op with its own fields. */
type GroupChange = GroupBody extends infer B
  ? B extends GroupBody
    ? Omit<B, "group_id" | "is_of_deactivated">
    : never
  : never;

/** @param group its state at the time of the event */
export function groupEvent(group: GroupRecord, change: GroupChange, audience: Audience = everybody): Effect {
  const mark = group.isActive ? {} : { is_of_deactivated: true as const };
  return effects.emit("user_group", { ...change, group_id: group.id, ...mark }, audience);
}

export function groupUpdateEvent(
  group: GroupRecord,
  data: Extract<GroupChange, { readonly op: "update" }>["data"],
  audience: Audience = everybody,
): Effect {
  return groupEvent(group, { op: "update", data }, audience);
}

/** @param userIds ascending */
export function membersEvent(
  group: GroupRecord,
  op: "add_members" | "remove_members",
  userIds: readonly UserId[],
  audience: Audience = everybody,
): Effect[] {
  return userIds.length === 0 ? [] : [groupEvent(group, { op, user_ids: userIds }, audience)];
}

/** @param subgroupIds ascending */
export function subgroupsEvent(
  group: GroupRecord,
  op: "add_subgroups" | "remove_subgroups",
  subgroupIds: readonly GroupId[],
): Effect[] {
  return subgroupIds.length === 0 ? [] : [groupEvent(group, { op, direct_subgroup_ids: subgroupIds })];
}
