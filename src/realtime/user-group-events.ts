/**
 * The `user_group` event for each kind of client (public API; behaviour 4.3): without the capability
 * `include_deactivated_groups` a deactivation is a removal, a reactivation an addition, and what happens to deactivated groups
 * is not told. A new group is built from its row as it is now: what has happened to it since follows as events of its own.
 */
import { namedGroup } from "../domain/group-permissions.ts";
import type { View } from "../domain/view.ts";
import { groupBody } from "../queries/user-groups.ts";
import type { EventBody, EventKind } from "./event-kind.ts";

const capability = "include_deactivated_groups";

export const userGroup: EventKind = {
  key(_view, record, _user, queue) {
    const knowsAll = queue.can(capability);
    if (record.body["is_of_deactivated"] === true && !knowsAll) return null;
    return knowsAll ? "all" : "active";
  },
  build(view, record, _user, queue) {
    const { is_of_deactivated: _mark, ...body } = record.body;
    const groupId = body["group_id"] as number;
    if (body["op"] === "add") return added(view, groupId, queue.can(capability));
    const { deactivated } = (body["data"] ?? {}) as { deactivated?: boolean };
    if (deactivated === undefined || queue.can(capability)) return [{ type: "user_group", ...body }];
    return deactivated ? [{ type: "user_group", op: "remove", group_id: groupId }] : added(view, groupId, false);
  },
};

/** Who knows active groups only is told of its end by an event that follows. */
function added(view: View, groupId: number, knowsAll: boolean): readonly EventBody[] {
  const group = namedGroup(view, groupId);
  if (group === undefined) return [];
  const body = groupBody(view, group);
  return [{ type: "user_group", op: "add", group: knowsAll ? body : { ...body, deactivated: false } }];
}
