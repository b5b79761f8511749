/**
 * Members and subgroups of user groups (behaviour 2.6, 3.6; public API: update-user-group-members,
 * update-user-group-subgroups): rows, events, notices, and private channels that become visible or invisible. A change
 * of more than `group_members_per_command_max` users continues in slices, as in membership.ts.
 */

import {
  canChangeMembers,
  canChangeSubgroups,
  groupDeactivated,
  type NamedGroup,
  namedGroup,
} from "../../domain/group-permissions.ts";
import { checkMembershipsLeft } from "../../domain/group-rules.ts";
import { ascending } from "../../domain/group-values.ts";
import { isGuest } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { Answer } from "../../schemas/answer.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import { includesId, isWithin } from "../../schemas/group-scope.ts";
import type { GroupId, UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { GroupMembersRest, GroupMembersStep, GroupRecord } from "../../schemas/user-groups.ts";
import type { UserRecord } from "../../schemas/users.ts";
import {
  type Command,
  command,
  type Done,
  done,
  type Effect,
  effects,
  forServer,
  forUser,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";
import { botDirectMessage, silentMention } from "../rules/notification-bot.ts";
import { channelsVisibleTo, visibilityOfGroupChange } from "./channel-visibility.ts";
import { membersEvent, subgroupsEvent } from "./group-events.ts";

/** POST /user_groups/{user_group_id}/members and .../subgroups. */
export function changeGroupMembers(
  caller: UserRecord,
  params: Params<"group.change-members">,
  view: View,
  sent: Command<"group.change-members">,
): Outcome {
  const refused = checkPerson(caller);
  if (refused !== null) return refused;
  const group = namedGroup(view, params.groupId);
  if (group === undefined) return refuse.invalidUserGroup();
  const [adding, removing] = [ascending(params.addIds), ascending(params.removeIds)];
  const steps: GroupMembersStep[] = [
    { op: "add", userIds: adding },
    { op: "remove", userIds: removing },
  ];
  for (const step of steps) {
    const wrong = step.userIds.length === 0 ? null : checkStep(view, caller, group, step, adding);
    if (wrong !== null) return wrong;
  }
  const after = changeSubgroups(view, caller, group, params);
  if (isRefusal(after)) return after;
  const grown = adding.length - removing.length + after.subgroupIds.length - group.subgroupIds.length;
  const crowded = checkMembershipsLeft(view, caller, group, grown);
  if (crowded !== null) return crowded;
  const notices = noticeEffects(view, caller, group, steps);
  return begin(view, sent, { group: after, steps, answer: {} }, { before: [], notices });
}

/**
 * The caller may have become a guest between the request and its turn (M7). Bots cannot manage groups (behaviour 2.6).
 */
export function checkPerson(caller: UserRecord): Refusal | null {
  if (isGuest(caller)) return refuse.guestsNotAllowed();
  return caller.botType === null ? null : refuse.botsNotAllowed();
}

/** @param added users added by an earlier step of the same request */
function checkStep(
  view: View,
  caller: UserRecord,
  group: NamedGroup,
  step: GroupMembersStep,
  added: readonly number[],
): Refusal | null {
  if (!canChangeMembers(view, caller, group, step)) return refuse.insufficientPermission();
  const unknown = checkMembersExist(view, step.userIds);
  if (unknown !== null) return unknown;
  const members = view.groups.membersOf(group.id);
  if (step.op === "add") {
    const present = step.userIds.find((id) => members.has(id));
    return present === undefined ? null : refuse.badRequest(`User ${present} is already a member of this group`);
  }
  const toAdd = new Set(added);
  const absent = step.userIds.find((id) => !members.has(id) && !toAdd.has(id));
  return absent === undefined ? null : refuse.badRequest(`There is no member '${absent}' in this user group`);
}

/** Users added to a group must exist and be active. */
export function checkMembersExist(view: View, userIds: readonly UserId[]): Refusal | null {
  const unknown = userIds.find((id) => view.users.get(id)?.isActive !== true);
  return unknown === undefined ? null : refuse.badRequest(`Invalid user ID: ${unknown}`);
}

/** Groups added to a group must exist and be active. */
export function checkSubgroupsExist(view: View, groupIds: readonly GroupId[]): Refusal | null {
  const unknown = groupIds.find((id) => namedGroup(view, id) === undefined);
  if (unknown !== undefined) return refuse.badRequest(`Invalid user group ID: ${unknown}`);
  const deactivated = groupIds.flatMap((id) => namedGroup(view, id) ?? []).find(({ isActive }) => !isActive);
  return deactivated === undefined ? null : groupDeactivated();
}

/** @returns the group's row after the change */
function changeSubgroups(
  view: View,
  caller: UserRecord,
  group: NamedGroup,
  { addSubgroupIds, removeSubgroupIds }: Command<"group.change-members">["params"],
): GroupRecord | Refusal {
  const present = new Set(group.subgroupIds);
  if (addSubgroupIds.length > 0) {
    const refused = checkAddedSubgroups(view, caller, group, addSubgroupIds);
    if (refused !== null) return refused;
    for (const id of addSubgroupIds) present.add(id);
  }
  if (removeSubgroupIds.length > 0) {
    if (!canChangeSubgroups(view, caller, group, "remove")) return refuse.insufficientPermission();
    const unknown = removeSubgroupIds.find((id) => namedGroup(view, id) === undefined);
    if (unknown !== undefined) return refuse.badRequest(`Invalid user group ID: ${unknown}`);
    const absent = removeSubgroupIds.find((id) => !present.has(id));
    if (absent !== undefined) return refuse.badRequest(`User group ${absent} is not a subgroup of this group.`);
    for (const id of removeSubgroupIds) present.delete(id);
  }
  return { ...group, subgroupIds: ascending(present) };
}

/** Rejects cycles: no group may contain itself. */
function checkAddedSubgroups(
  view: View,
  caller: UserRecord,
  group: NamedGroup,
  ids: readonly number[],
): Refusal | null {
  if (!canChangeSubgroups(view, caller, group, "add")) return refuse.insufficientPermission();
  const unknown = checkSubgroupsExist(view, ids);
  if (unknown !== null) return unknown;
  const present = ids.find((id) => includesId(group.subgroupIds, id));
  if (present !== undefined) return refuse.badRequest(`User group ${present} is already a subgroup of this group.`);
  if (!isWithin(group.id, ids, (id) => view.groups.get(id))) return null;
  return refuse.badRequest(`User group ${group.id} is already a subgroup of one of the passed subgroups.`);
}

/**
 * Adds the members of a group that the same command creates.
 * @param before effects that precede the members
 */
export function beginMembers(
  view: View,
  sent: Command,
  request: { readonly group: GroupRecord; readonly memberIds: readonly UserId[]; readonly answer: Answer },
  before: readonly Effect[],
): Done<never> {
  const { group, memberIds, answer } = request;
  if (memberIds.length <= limits.group_members_per_command_max) {
    // The event that adds the group lists its members.
    return done(answer, [...before, ...memberIds.map((id) => effects.put("groupMembers", [group.id, id], {}))]);
  }
  return continueWith(view, sent, { groupId: group.id, steps: [{ op: "add", userIds: memberIds }], answer }, before);
}

interface Begin {
  readonly group: GroupRecord;
  readonly steps: readonly GroupMembersStep[];
  readonly answer: Answer;
}

/** Applies the change at once, or applies its subgroups at once and its members slice by slice. */
function begin(
  view: View,
  sent: Command,
  { group, steps, answer }: Begin,
  around: { readonly before: readonly Effect[]; readonly notices: readonly Effect[] },
): Done<never> {
  const size = steps.reduce((sum, { userIds }) => sum + userIds.length, 0);
  const isWhole = size <= sliceSize(view, group.id);
  const now = [...around.before, ...changeEffects(view, group, isWhole ? steps : []), ...around.notices];
  return isWhole ? done(answer, now) : continueWith(view, sent, { groupId: group.id, steps, answer }, now);
}

function continueWith(
  view: View,
  sent: Command,
  { groupId, steps, answer }: Pick<GroupMembersRest, "groupId" | "steps"> & { readonly answer: Answer },
  now: readonly Effect[],
): Done<never> {
  const waiting = sent.ticket === null ? null : { ticket: sent.ticket, boot: view.counter("boot"), answer };
  const rest = command({ actor: "realm" }, "group-members.continue", { groupId, steps, waiting }, null);
  return { ...done<never>(null, [...now, effects.send(rest)]), keptAnswer: answer };
}

export function continueGroupMembers(
  { groupId, steps, waiting }: Params<"group-members.continue">,
  view: View,
): Outcome {
  const { taken, left } = takeSlice(steps, sliceSize(view, groupId));
  const group = view.groups.get(groupId);
  const all = group === undefined ? [] : changeEffects(view, group, taken);
  if (left.length > 0) {
    const rest = { groupId, steps: left, waiting };
    all.push(effects.send(command({ actor: "realm" }, "group-members.continue", rest, null)));
  } else if (waiting !== null && waiting.boot === view.counter("boot")) {
    // After a restart no request is waiting, and the ticket number may belong to another request.
    all.push(effects.reply(waiting.ticket, waiting.answer));
  }
  return done({}, all);
}

/** Number of users per command; smaller if their visibility of many private channels must be checked. */
function sliceSize(view: View, groupId: GroupId): number {
  const channels = Math.max(1, channelsVisibleTo(view, groupId).length);
  const sizeByChannels = Math.max(1, Math.floor(limits.visibility_pairs_per_command_max / channels));
  return Math.min(limits.group_members_per_command_max, sizeByChannels);
}

function takeSlice(steps: readonly GroupMembersStep[], size: number) {
  const taken: GroupMembersStep[] = [];
  const left: GroupMembersStep[] = [];
  let room = size;
  for (const { op, userIds } of steps) {
    const [now, later] = [userIds.slice(0, room), userIds.slice(room)];
    room -= now.length;
    if (now.length > 0) taken.push({ op, userIds: now });
    if (later.length > 0) left.push({ op, userIds: later });
  }
  return { taken, left };
}

/**
 * Rows and events of a change, between the events for channels that vanish and those that appear. Another command may
 * have changed the same users since the request was checked, so only actual differences are applied.
 * @param group its row after the change
 */
function changeEffects(view: View, group: GroupRecord, steps: readonly GroupMembersStep[]): Effect[] {
  const members = view.groups.membersOf(group.id);
  const named = (op: GroupMembersStep["op"]) =>
    steps.filter((step) => step.op === op).flatMap(({ userIds }) => userIds);
  const joining = named("add").filter((id) => !members.has(id) && view.users.get(id)?.isActive === true);
  const joined = new Set(joining);
  const leaving = named("remove").filter((id) => members.has(id) || joined.has(id));
  const before = view.groups.get(group.id)?.subgroupIds ?? [];
  const added = group.subgroupIds.filter((id) => !includesId(before, id));
  const removed = before.filter((id) => !includesId(group.subgroupIds, id));
  const visibility = visibilityOfGroupChange(view, group, { joining, leaving });
  const isOther = added.length + removed.length > 0;
  return [
    ...visibility.vanishing,
    ...joining.map((id) => effects.put("groupMembers", [group.id, id], {})),
    ...leaving.map((id) => effects.remove("groupMembers", [group.id, id])),
    ...(isOther ? [effects.put("groups", group.id, group)] : []),
    ...membersEvent(group, "add_members", joining),
    ...membersEvent(group, "remove_members", leaving),
    ...subgroupsEvent(group, "add_subgroups", added),
    ...subgroupsEvent(group, "remove_subgroups", removed),
    ...visibility.appearing,
  ];
}

const verbs = {
  add: (caller: string, group: string) => `${caller} added you to the group ${group}.`,
  remove: (caller: string, group: string) => `${caller} removed you from the group ${group}.`,
} as const;

/** The caller and bots get no notice. Very large changes send none (`group_notices_max`). */
export function noticeEffects(
  view: View,
  caller: UserRecord,
  group: NamedGroup,
  steps: readonly GroupMembersStep[],
): Effect[] {
  return steps.flatMap(({ op, userIds }) => {
    if (userIds.length > limits.group_notices_max) return [];
    const content = verbs[op](silentMention(caller), `@_*${group.name}*`);
    return userIds
      .filter((id) => id !== caller.id && view.users.get(id)?.botType === null)
      .map((id) => effects.send(botDirectMessage(id, content)));
  });
}

export const groupMembersDecisions = {
  "group.change-members": forUser(changeGroupMembers),
  "group-members.continue": forServer(continueGroupMembers),
} as const;
