/**
 * User groups that begin, change, end and begin again (spec 2.5, 3, 4.6; behaviour 2.6, 3.6; public API: create-user-group,
 * deactivate-user-group). A request is done whole or not at all. Who is in a group: group-members.ts.
 */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { type UserGroupSettingName, userGroupSettingNames, userGroupSettings } from "../../schemas/group-settings.ts";
import { limits } from "../../schemas/limits.ts";
import type { GroupRecord, UserRecord } from "../../schemas/records.ts";
import { checkGroupName, checkGroupNameFree } from "../../src/domain/group-names.ts";
import { canManageGroup, type NamedGroup, namedGroup, userGroupSettingId } from "../../src/domain/group-permissions.ts";
import { groupUsage } from "../../src/domain/group-usage.ts";
import { ascending } from "../../src/domain/group-values.ts";
import { hasRealmPermission } from "../../src/domain/permissions.ts";
import { supposing } from "../../src/domain/supposed-view.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { groupEvent, groupUpdateEvent } from "./group-events.ts";
import { beginMembers, checkMembersExist, checkPerson, checkSubgroupsExist } from "./group-members.ts";
import { changeGroupValue, resolveSettings } from "./group-values.ts";

/** POST /user_groups/create. */
export function createGroup(_context: unknown, asked: Command<"group.create">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null) return refuse.noSuchUser();
  const refused = checkCreation(view, caller, asked.params);
  if (refused !== null) return refused;
  const { name, description, memberIds, subgroupIds } = asked.params;
  const id = view.counter("group") + 1;
  const resolved = resolveSettings(view, {
    settings: userGroupSettings,
    values: asked.params.settings,
    creator: caller,
    firstId: id + 1,
  });
  if ("kind" in resolved) return resolved;
  const late = checkCreationLate(view, asked.params);
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
    effects.count("group", resolved.records.at(-1)?.id ?? id),
    groupEvent(group, { op: "add" }),
  ];
  return beginMembers(view, asked, { group, memberIds: ascending(memberIds), answer: { group_id: id } }, before);
}

function checkCreation(view: View, caller: UserRecord, params: Command<"group.create">["params"]): Refusal | null {
  return (
    checkPerson(caller) ??
    (hasRealmPermission(view, caller, "can_create_groups") ? null : refuse.insufficientPermission()) ??
    checkMembersExist(view, params.memberIds) ??
    checkGroupName(params.name)
  );
}

/** After the settings, as the public server does. */
function checkCreationLate(view: View, { name, subgroupIds }: Command<"group.create">["params"]): Refusal | null {
  const taken = checkGroupNameFree(view, name);
  if (taken !== null) return taken;
  if (view.groups.size >= limits.user_groups_per_realm_max) return refuse.badRequest("Too many user groups");
  return checkSubgroupsExist(view, subgroupIds);
}

/** PATCH /user_groups/{user_group_id} (spec 4.6). */
export function updateGroup(_context: unknown, asked: Command<"group.update">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null) return refuse.noSuchUser();
  const { params } = asked;
  const group = manageable(view, caller, params.groupId);
  if ("kind" in group) return group;
  const renamed = params.name === null || params.name === group.name ? null : params.name;
  const refused = renamed === null ? null : (checkGroupName(renamed) ?? checkGroupNameFree(view, renamed));
  if (refused !== null) return refused;
  const described = params.description === null || params.description === group.description ? null : params.description;
  const isReactivated = params.isDeactivated === false && !group.isActive;

  const changed: GroupRecord = {
    ...group,
    name: renamed ?? group.name,
    description: described ?? group.description,
    isActive: group.isActive || isReactivated,
  };
  const settings = changeSettings(view, changed, params.settings);
  if ("kind" in settings) return settings;
  const after = { ...changed, settings: { ...group.settings, ...settings.ids } };
  const told = [
    ...(renamed === null ? [] : [groupUpdateEvent(group, { name: renamed })]),
    ...(described === null ? [] : [groupUpdateEvent(group, { description: described })]),
    ...(isReactivated ? [groupUpdateEvent(after, { deactivated: false })] : []),
    ...settings.events,
  ];
  if (told.length === 0) return done({}, []);
  return done({}, [...settings.rows, effects.put("groups", group.id, after), ...told]);
}

/** The group, when the caller may manage it. Deactivated ones may be changed (spec 2.5). */
function manageable(view: View, caller: UserRecord, groupId: number): NamedGroup | Refusal {
  const refused = checkPerson(caller);
  if (refused !== null) return refused;
  const group = namedGroup(view, groupId);
  if (group === undefined) return refuse.invalidUserGroup();
  return canManageGroup(view, caller, group) ? group : refuse.insufficientPermission();
}

interface SettingsChange {
  readonly ids: Partial<Record<UserGroupSettingName, number>>;
  /** Of anonymous groups that come, change and go. */
  readonly rows: readonly Effect[];
  readonly events: readonly Effect[];
}

/** @param group as it will be: a group that becomes active in the same request may hold its own permissions */
function changeSettings(
  view: View,
  group: GroupRecord,
  changes: Command<"group.update">["params"]["settings"],
): SettingsChange | Refusal {
  const after = supposing(view, { groups: new Map([[group.id, group]]) });
  const ids: Partial<Record<UserGroupSettingName, number>> = {};
  const rows: Effect[] = [];
  const events: Effect[] = [];
  let lastId = view.counter("group");
  for (const name of userGroupSettingNames) {
    const asked = changes[name];
    if (asked === undefined) continue;
    const named = { name, setting: userGroupSettings[name] };
    const change = changeGroupValue(after, named, userGroupSettingId(view, group, name), asked, lastId + 1);
    if (change === null) continue;
    if ("kind" in change) return change;
    ids[name] = change.id;
    rows.push(...change.effects);
    if (change.takesId) lastId++;
    events.push(groupUpdateEvent(group, { [name]: change.value }));
  }
  if (lastId > view.counter("group")) rows.push(effects.count("group", lastId));
  return { ids, rows, events };
}

/** POST /user_groups/{user_group_id}/deactivate (spec 3). What holds a permission or is within a group stays. */
export function deactivateGroup(_context: unknown, asked: Command<"group.deactivate">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null) return refuse.noSuchUser();
  const group = manageable(view, caller, asked.params.groupId);
  if ("kind" in group) return group;
  if (!group.isActive) return refuse.badRequest("User group is deactivated.");
  const usage = groupUsage(view, group, caller);
  if (usage.isUsed) return refuse.groupInUse(usage.objections);
  const after = { ...group, isActive: false };
  return done({}, [effects.put("groups", group.id, after), groupUpdateEvent(group, { deactivated: true })]);
}
