/**
 * User groups: creation, and who may change them (spec 2.5, 3, 4.6; behaviour 2.6, 3.6; public API: create-user-group,
 * deactivate-user-group). Requests are atomic. The group's machine decides the changes, and group-members.ts its members.
 */

import { canManageGroup, namedGroup } from "../../domain/group-permissions.ts";
import { checkGroupName, checkGroupNameFree, checkGroupsLeft, checkMembershipsLeft } from "../../domain/group-rules.ts";
import { ascending } from "../../domain/group-values.ts";
import { hasRealmPermission } from "../../domain/permissions.ts";
import { checkLines } from "../../domain/text.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import { userGroupSettings } from "../../schemas/group-settings.ts";
import type { GroupRecord } from "../../schemas/user-groups.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Command, effects, forUser, type Outcome, type Params } from "../protocol/decision.ts";
import { decideRecord } from "../protocol/record-machines.ts";
import { groupEvent } from "./group-events.ts";
import { beginMembers, checkMembersExist, checkPerson, checkSubgroupsExist } from "./group-members.ts";
import { checkNamed, resolveSettings } from "./group-values.ts";
import { userGroups } from "./user-group-machine.ts";

/** POST /user_groups/create. */
export function createGroup(
  caller: UserRecord,
  params: Params<"group.create">,
  view: View,
  command: Command<"group.create">,
): Outcome {
  const refused = checkCreation(view, caller, params);
  if (refused !== null) return refused;
  const crowded = checkNamed(view, caller, { values: Object.values(params.settings) });
  if (crowded !== null) return crowded;
  const { name, description, memberIds, subgroupIds } = params;
  const id = view.counter("group") + 1;
  const resolved = resolveSettings(view, {
    settings: userGroupSettings,
    values: params.settings,
    creator: caller,
    firstId: id + 1,
  });
  if (isRefusal(resolved)) return resolved;
  const late = checkCreationLate(view, caller, params);
  if (late !== null) return late;
  const group: GroupRecord = {
    id,
    name,
    description,
    isSystem: false,
    isActive: true,
    creatorId: caller.id,
    createdAt: view.now,
    memberIds: [],
    subgroupIds: ascending(subgroupIds),
    settings: resolved.ids,
  };
  const before = [
    ...resolved.records.map((record) => effects.put("groups", record.id, record)),
    effects.put("groups", id, group),
    effects.setCounter("group", resolved.records.at(-1)?.id ?? id),
    groupEvent(group, { op: "add" }),
  ];
  return beginMembers(view, command, { group, memberIds: ascending(memberIds), answer: { group_id: id } }, before);
}

function checkCreation(view: View, caller: UserRecord, params: Command<"group.create">["params"]): Refusal | null {
  return (
    checkPerson(caller) ??
    (hasRealmPermission(view, caller, "can_create_groups") ? null : refuse.insufficientPermission()) ??
    checkMembersExist(view, params.memberIds) ??
    checkGroupName(params.name) ??
    checkLines("description", params.description)
  );
}

/** Checked after the settings, as on the public server. */
function checkCreationLate(
  view: View,
  caller: UserRecord,
  { name, memberIds, subgroupIds }: Command<"group.create">["params"],
): Refusal | null {
  const members = new Set(memberIds).size + new Set(subgroupIds).size;
  return (
    checkGroupNameFree(view, name) ??
    checkGroupsLeft(view, caller) ??
    checkSubgroupsExist(view, subgroupIds) ??
    checkMembershipsLeft(view, caller, { creatorId: caller.id }, members)
  );
}

/** PATCH /user_groups/{user_group_id} (spec 4.6), and POST /user_groups/{user_group_id}/deactivate (spec 3). */
export function changeGroup(
  caller: UserRecord,
  { groupId }: Params<"group.update" | "group.deactivate">,
  view: View,
  command: Command<"group.update"> | Command<"group.deactivate">,
): Outcome {
  const refused = checkPerson(caller);
  if (refused !== null) return refused;
  const group = namedGroup(view, groupId);
  if (group === undefined) return refuse.invalidUserGroup();
  if (!canManageGroup(view, caller, group)) return refuse.insufficientPermission();
  return decideRecord(userGroups, { row: group, caller }, command, view);
}

export const groupsDecisions = {
  "group.create": forUser(createGroup),
  "group.update": forUser(changeGroup),
  "group.deactivate": forUser(changeGroup),
} as const;
