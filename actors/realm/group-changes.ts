/**
 * The decisions of a user group once the caller may manage it (user-group-machine.ts): new names, descriptions and
 * permissions, deactivation and reactivation (spec 2.5, 3, 4.6; behaviour 2.6, 3.6).
 */

import { type NamedGroup, userGroupSettingId } from "../../domain/group-permissions.ts";
import { checkGroupName, checkGroupNameFree, groupUsage } from "../../domain/group-rules.ts";
import { withOverrides } from "../../domain/overlay-view.ts";
import { checkLines } from "../../domain/text.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import { type UserGroupSettingName, userGroupSettingNames, userGroupSettings } from "../../schemas/group-settings.ts";
import type { GroupRecord } from "../../schemas/user-groups.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Command, done, type Effect, effects, type Outcome } from "../protocol/decision.ts";
import type { RecordContext } from "../protocol/record-machines.ts";
import { groupUpdateEvent } from "./group-events.ts";
import { changeGroupValue, checkNamedChanges } from "./group-values.ts";

export interface UserGroupContext extends RecordContext<NamedGroup> {
  readonly caller: UserRecord;
}

export function updateActiveGroup(
  context: UserGroupContext,
  command: Command<"group.update">,
  view: View,
): Outcome<UserGroupContext> {
  return update(context, command, view, false);
}

/** A deactivated group can be changed, and reactivated by the same request (spec 2.5, 4.6). */
export function updateDeactivatedGroup(
  context: UserGroupContext,
  command: Command<"group.update">,
  view: View,
): Outcome<UserGroupContext> {
  return update(context, command, view, command.params.isDeactivated === false);
}

function update(
  { row: group, caller }: UserGroupContext,
  { params }: Command<"group.update">,
  view: View,
  isReactivated: boolean,
): Outcome<UserGroupContext> {
  const renamed = params.name === null || params.name === group.name ? null : params.name;
  const described = params.description === null || params.description === group.description ? null : params.description;
  const refused =
    (renamed === null ? null : (checkGroupName(renamed) ?? checkGroupNameFree(view, renamed))) ??
    (described === null ? null : checkLines("description", described));
  if (refused !== null) return refused;
  const changed: NamedGroup = {
    ...group,
    name: renamed ?? group.name,
    description: described ?? group.description,
    isActive: group.isActive || isReactivated,
  };
  const settings = changeSettings(view, caller, changed, params.settings);
  if (isRefusal(settings)) return settings;
  const after = { ...changed, settings: { ...group.settings, ...settings.ids } };
  const events = [
    ...(renamed === null ? [] : [groupUpdateEvent(group, { name: renamed })]),
    ...(described === null ? [] : [groupUpdateEvent(group, { description: described })]),
    ...(isReactivated ? [groupUpdateEvent(after, { deactivated: false })] : []),
    ...settings.events,
  ];
  if (events.length === 0) return done({}, []);
  return done(
    {},
    [...settings.rows, effects.put("groups", group.id, after), ...events],
    { row: after },
    groupState(after),
  );
}

export function groupState({ isActive }: NamedGroup): string {
  return isActive ? "active" : "deactivated";
}

interface SettingsChange {
  readonly ids: Partial<Record<UserGroupSettingName, number>>;
  /** Changes to the rows of anonymous groups. */
  readonly rows: readonly Effect[];
  readonly events: readonly Effect[];
}

/** @param group its row after the change: a group reactivated by the same request may hold its own permissions */
function changeSettings(
  view: View,
  caller: UserRecord,
  group: GroupRecord,
  changes: Command<"group.update">["params"]["settings"],
): SettingsChange | Refusal {
  const crowded = checkNamedChanges(view, caller, changes, (name) => userGroupSettingId(view, group, name));
  if (crowded !== null) return crowded;
  const after = withOverrides(view, { groups: new Map([[group.id, group]]) });
  const ids: Partial<Record<UserGroupSettingName, number>> = {};
  const rows: Effect[] = [];
  const events: Effect[] = [];
  let lastId = view.counter("group");
  for (const name of userGroupSettingNames) {
    const requested = changes[name];
    if (requested === undefined) continue;
    const named = { name, setting: userGroupSettings[name] };
    const change = changeGroupValue(after, named, userGroupSettingId(view, group, name), requested, {
      id: lastId + 1,
      caller,
    });
    if (change === null) continue;
    if (isRefusal(change)) return change;
    ids[name] = change.id;
    rows.push(...change.effects);
    if (change.takesId) lastId++;
    events.push(groupUpdateEvent(group, { [name]: change.value }));
  }
  if (lastId > view.counter("group")) rows.push(effects.setCounter("group", lastId));
  return { ids, rows, events };
}

/** A group that holds a permission or is a subgroup cannot be deactivated. */
export function deactivateActiveGroup(
  { row: group, caller }: UserGroupContext,
  _asked: Command<"group.deactivate">,
  view: View,
): Outcome<UserGroupContext> {
  const usage = groupUsage(view, group, caller);
  if (usage.isUsed) return refuse.groupInUse(usage.objections);
  const after = { ...group, isActive: false };
  const event = groupUpdateEvent(group, { deactivated: true });
  return done({}, [effects.put("groups", group.id, after), event], { row: after }, groupState(after));
}
