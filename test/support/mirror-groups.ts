/** Applies user_group events as a client does (OpenAPI, GET /events; behaviour 4.5): a part of the mirror. */

// biome-ignore lint/suspicious/noExplicitAny: state and events are JSON of any shape
type Json = any;

/** @throws Error if a client receives an event of a group that it does not have, or a group twice */
export function applyUserGroup(state: Json, { op, group_id: groupId, ...received }: Json): void {
  const groupOf = (id: number) => state.realm_user_groups.find((group: Json) => group.id === id);
  if (op === "add") {
    if (groupOf(received.group.id) !== undefined) throw new Error(`group ${received.group.id} created twice`);
    state.realm_user_groups.push(structuredClone(received.group));
    return;
  }
  const group = groupOf(groupId);
  if (group === undefined) throw new Error(`user_group ${op} of ${groupId}, which the client does not have`);
  const { user_ids: userIds, direct_subgroup_ids: subgroupIds } = received;
  switch (op) {
    case "remove":
      state.realm_user_groups = state.realm_user_groups.filter((known: Json) => known !== group);
      return;
    case "update":
      Object.assign(group, structuredClone(received.data));
      return;
    case "add_members":
      group.members = united(group.members, userIds);
      return;
    case "remove_members":
      group.members = group.members.filter((id: number) => !userIds.includes(id));
      return;
    case "add_subgroups":
      group.direct_subgroup_ids = united(group.direct_subgroup_ids, subgroupIds);
      return;
    case "remove_subgroups":
      group.direct_subgroup_ids = group.direct_subgroup_ids.filter((id: number) => !subgroupIds.includes(id));
      return;
    default:
      throw new Error(`user_group ${op}`);
  }
}

/** Ascending, each once. */
function united(ids: readonly number[], more: readonly number[]): number[] {
  return [...new Set([...ids, ...more])].sort((a, b) => a - b);
}
