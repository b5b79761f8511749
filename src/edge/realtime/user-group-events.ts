/**
 * The `user_group` event for each kind of client (public API; behaviour 4.3). Without the capability
 * `include_deactivated_groups` a deactivation is sent as a removal, a reactivation as an addition, and changes of
 * deactivated groups are not sent. A new group is built from its current row; later changes follow as separate events.
 */

import { namedGroup } from "../../../domain/group-permissions.ts";
import type { View } from "../../../domain/view.ts";
import type { WireEvent } from "../../../schemas/events.ts";
import { groupBody } from "../../queries/user-groups.ts";
import type { EventKind } from "./event-kind.ts";

const capability = "include_deactivated_groups";

export const userGroup: EventKind<"user_group"> = {
  key(_view, record, _user, queue) {
    const knowsAll = queue.can(capability);
    if (record.body.is_of_deactivated === true && !knowsAll) return null;
    return knowsAll ? "all" : "active";
  },
  build(view, record, _user, queue) {
    const { is_of_deactivated: _mark, ...body } = record.body;
    const { group_id: groupId } = body;
    if (body.op === "add") return added(view, groupId, queue.can(capability));
    const deactivated = body.op === "update" ? body.data.deactivated : undefined;
    if (deactivated === undefined || queue.can(capability)) return [{ type: "user_group", ...body }];
    return deactivated ? [{ type: "user_group", op: "remove", group_id: groupId }] : added(view, groupId, false);
  },
};

/** A client that only knows active groups gets the group as active; the event of its deactivation follows. */
function added(view: View, groupId: number, knowsAll: boolean): readonly WireEvent[] {
  const group = namedGroup(view, groupId);
  if (group === undefined) return [];
  const body = groupBody(view, group);
  return [{ type: "user_group", op: "add", group: knowsAll ? body : { ...body, deactivated: false } }];
}
