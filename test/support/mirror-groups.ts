/** What a client makes of user_group events (OpenAPI, GET /events; behaviour 4.5): a part of the mirror. */

// biome-ignore lint/suspicious/noExplicitAny: state and events are JSON whose shape is what tests find out
type Json = any;

/** @throws Error when a client would be told of a group that it cannot know, or of one twice */
export function applyUserGroup(state: Json, { op, group_id: groupId, ...told }: Json): void {
  const groupOf = (id: number) => state.realm_user_groups.find((group: Json) => group.id === id);
  if (op === "add") {
    if (groupOf(told.group.id) !== undefined) throw new Error(`group ${told.group.id} made twice`);
    state.realm_user_groups.push(structuredClone(told.group));
    return;
  }
  const group = groupOf(groupId);
  if (group === undefined) throw new Error(`user_group ${op} of ${groupId}, which is not known`);
  const { user_ids: userIds, direct_subgroup_ids: subgroupIds } = told;
  switch (op) {
    case "remove":
      state.realm_user_groups = state.realm_user_groups.filter((known: Json) => known !== group);
      return;
    case "update":
      Object.assign(group, structuredClone(told.data));
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
