/**
 * Who and what is in a user group (behaviour 2.6, 3.6; public API: update-user-group-members, update-user-group-subgroups):
 * rows, events, messages to whom it concerns, and private channels that come into or go out of sight by it. A change of more
 * than `group_members_per_command_max` people goes on by itself, slice after slice, as in membership.ts.
 */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { GroupRecord, UserRecord } from "../../schemas/records.ts";
import {
  canChangeMembers,
  canChangeSubgroups,
  type NamedGroup,
  namedGroup,
} from "../../src/domain/group-permissions.ts";
import { ascending } from "../../src/domain/group-values.ts";
import { isGuest } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import type { GroupMembersRest, GroupMembersStep } from "../commands/user-groups.ts";
import { type Command, command } from "../commands.ts";
import { callerOf, type Done, done, type Outcome } from "../decide.ts";
import { type Answer, type Effect, effects } from "../effects.ts";
import { channelsKnownBy, sightOfGroupChange } from "./channel-sight.ts";
import { membersEvent, subgroupsEvent } from "./group-events.ts";
import { noticeEffects } from "./group-notices.ts";

/** POST /user_groups/{user_group_id}/members and .../subgroups. */
export function changeGroupMembers(_context: unknown, asked: Command<"group.change-members">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null) return refuse.noSuchUser();
  const refused = checkPerson(caller);
  if (refused !== null) return refused;
  const group = namedGroup(view, asked.params.groupId);
  if (group === undefined) return refuse.invalidUserGroup();
  const steps: GroupMembersStep[] = [
    { op: "add", userIds: ascending(asked.params.addIds) },
    { op: "remove", userIds: ascending(asked.params.removeIds) },
  ];
  for (const step of steps) {
    const wrong = step.userIds.length === 0 ? null : checkStep(view, caller, group, step, steps[0]?.userIds ?? []);
    if (wrong !== null) return wrong;
  }
  const after = changeSubgroups(view, caller, group, asked.params);
  if ("kind" in after) return after;
  const notices = noticeEffects(view, caller, group, steps);
  return begin(view, asked, { group: after, steps, answer: {} }, { before: [], notices });
}

/** Between the request and its turn somebody may have become a guest (M7); bots have no business with groups (behaviour 2.6). */
export function checkPerson(caller: UserRecord): Refusal | null {
  if (isGuest(caller)) return refuse.guestsNotAllowed();
  return caller.botType === null ? null : refuse.botsNotAllowed();
}

/** @param added who is in by an earlier step of the request */
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
  const newcomers = new Set(added);
  const absent = step.userIds.find((id) => !members.has(id) && !newcomers.has(id));
  return absent === undefined ? null : refuse.badRequest(`There is no member '${absent}' in this user group`);
}

/** People whom a request puts into a group: there and active. */
export function checkMembersExist(view: View, userIds: readonly number[]): Refusal | null {
  const unknown = userIds.find((id) => view.users.get(id)?.isActive !== true);
  return unknown === undefined ? null : refuse.badRequest(`Invalid user ID: ${unknown}`);
}

/** Groups that a request puts into a group: there and active. */
export function checkSubgroupsExist(view: View, groupIds: readonly number[]): Refusal | null {
  const unknown = groupIds.find((id) => namedGroup(view, id) === undefined);
  if (unknown !== undefined) return refuse.badRequest(`Invalid user group ID: ${unknown}`);
  const isAnyDeactivated = groupIds.some((id) => view.groups.get(id)?.isActive === false);
  return isAnyDeactivated ? refuse.badRequest("User group is deactivated.") : null;
}

/** @returns the group's row as it will be */
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

/** No group may come to be within itself. */
function checkAddedSubgroups(
  view: View,
  caller: UserRecord,
  group: NamedGroup,
  ids: readonly number[],
): Refusal | null {
  if (!canChangeSubgroups(view, caller, group, "add")) return refuse.insufficientPermission();
  const unknown = checkSubgroupsExist(view, ids);
  if (unknown !== null) return unknown;
  const present = ids.find((id) => group.subgroupIds.includes(id));
  if (present !== undefined) return refuse.badRequest(`User group ${present} is already a subgroup of this group.`);
  const isCycle = ids.some((id) => view.groups.scope(id)?.ids.has(group.id) === true);
  if (!isCycle) return null;
  return refuse.badRequest(`User group ${group.id} is already a subgroup of one of the passed subgroups.`);
}

/** The members of a group that is made in the same command. @param before effects that come first */
export function beginMembers(
  view: View,
  asked: Command,
  request: { readonly group: GroupRecord; readonly memberIds: readonly number[]; readonly answer: Answer },
  before: readonly Effect[],
): Done<never> {
  const { group, memberIds, answer } = request;
  if (memberIds.length <= limits.group_members_per_command_max) {
    // The event of the group says who is in it.
    return done(answer, [...before, ...memberIds.map((id) => effects.put("groupMembers", [group.id, id], {}))]);
  }
  return goOn(view, asked, { groupId: group.id, steps: [{ op: "add", userIds: memberIds }], answer }, before);
}

interface Begin {
  readonly group: GroupRecord;
  readonly steps: readonly GroupMembersStep[];
  readonly answer: Answer;
}

/** Carries out a change at once, or its subgroups at once and its members slice by slice. */
function begin(
  view: View,
  asked: Command,
  { group, steps, answer }: Begin,
  around: { readonly before: readonly Effect[]; readonly notices: readonly Effect[] },
): Done<never> {
  const size = steps.reduce((sum, { userIds }) => sum + userIds.length, 0);
  const isWhole = size <= sliceSize(view, group.id);
  const now = [...around.before, ...changeEffects(view, group, isWhole ? steps : []), ...around.notices];
  return isWhole ? done(answer, now) : goOn(view, asked, { groupId: group.id, steps, answer }, now);
}

function goOn(
  view: View,
  asked: Command,
  { groupId, steps, answer }: Pick<GroupMembersRest, "groupId" | "steps"> & { readonly answer: Answer },
  now: readonly Effect[],
): Done<never> {
  const waiting = asked.ticket === null ? null : { ticket: asked.ticket, boot: view.counter("boot"), answer };
  const rest = command({ actor: "realm" }, "group-members.continue", { groupId, steps, waiting }, null);
  return { ...done<never>(null, [...now, effects.tell(rest)]), keptAnswer: answer };
}

/** One slice of a large change. */
export function continueGroupMembers(_context: unknown, asked: Command<"group-members.continue">, view: View): Outcome {
  const { groupId, steps, waiting } = asked.params;
  const { taken, left } = takeSlice(steps, sliceSize(view, groupId));
  const group = view.groups.get(groupId);
  const all = group === undefined ? [] : changeEffects(view, group, taken);
  if (left.length > 0) {
    const rest = { groupId, steps: left, waiting };
    all.push(effects.tell(command({ actor: "realm" }, "group-members.continue", rest, null)));
  } else if (waiting !== null && waiting.boot === view.counter("boot")) {
    // After a restart nobody waits any more, and the ticket may name somebody else's request.
    all.push(effects.reply(waiting.ticket, waiting.answer));
  }
  return done({}, all);
}

/** How many people one command is about: fewer where their sight of many private channels has to be looked at. */
function sliceSize(view: View, groupId: number): number {
  const channels = Math.max(1, channelsKnownBy(view, groupId).length);
  const looked = Math.max(1, Math.floor(limits.sight_pairs_per_command_max / channels));
  return Math.min(limits.group_members_per_command_max, looked);
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
 * Rows and events of a change, between what vanishes and what appears by it. Since the request was checked others may have
 * changed the same people: only what still differs is done.
 * @param group its row as it will be
 */
function changeEffects(view: View, group: GroupRecord, steps: readonly GroupMembersStep[]): Effect[] {
  const members = view.groups.membersOf(group.id);
  const named = (op: GroupMembersStep["op"]) =>
    steps.filter((step) => step.op === op).flatMap(({ userIds }) => userIds);
  const joining = named("add").filter((id) => !members.has(id) && view.users.get(id)?.isActive === true);
  const joined = new Set(joining);
  const leaving = named("remove").filter((id) => members.has(id) || joined.has(id));
  const before = view.groups.get(group.id)?.subgroupIds ?? [];
  const added = group.subgroupIds.filter((id) => !before.includes(id));
  const removed = before.filter((id) => !group.subgroupIds.includes(id));
  const sight = sightOfGroupChange(view, group, { joining, leaving });
  const isOther = added.length + removed.length > 0;
  return [
    ...sight.vanishing,
    ...joining.map((id) => effects.put("groupMembers", [group.id, id], {})),
    ...leaving.map((id) => effects.remove("groupMembers", [group.id, id])),
    ...(isOther ? [effects.put("groups", group.id, group)] : []),
    ...membersEvent(group, "add_members", joining),
    ...membersEvent(group, "remove_members", leaving),
    ...subgroupsEvent(group, "add_subgroups", added),
    ...subgroupsEvent(group, "remove_subgroups", removed),
    ...sight.appearing,
  ];
}
