/** Group-setting values (spec 2.2; behaviour 3.2 to 3.4): from what a request says to the group that holds a permission. */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { channelGroupSettings, type GroupSettingName } from "../../schemas/group-settings.ts";
import type { GroupRecord } from "../../schemas/records.ts";
import type { GroupSettingValue } from "../../schemas/types.ts";
import type { View } from "../../src/domain/view.ts";

export interface GroupChange {
  readonly id: number;
  /** The anonymous group that has to be stored, or null when a named one holds the permission. */
  readonly record: GroupRecord | null;
}

/** @param nextId id for the anonymous group, if one is needed */
export function resolveGroupValue(
  view: View,
  setting: GroupSettingName,
  value: GroupSettingValue,
  nextId: number,
): GroupChange | Refusal {
  const normal = normalise(view, value);
  return typeof normal === "number"
    ? checkNamedGroup(view, setting, normal)
    : anonymousGroup(view, normal.direct_members, normal.direct_subgroups, nextId);
}

/** One subgroup alone is that group; nobody at all is `role:nobody`. */
function normalise(view: View, value: GroupSettingValue): GroupSettingValue {
  if (typeof value === "number" || value.direct_members.length > 0) return value;
  if (value.direct_subgroups.length === 0) return view.groups.system("role:nobody")?.id ?? value;
  const only = value.direct_subgroups[0];
  return value.direct_subgroups.length === 1 && only !== undefined ? only : value;
}

function checkNamedGroup(view: View, setting: GroupSettingName, id: number): GroupChange | Refusal {
  const group = view.groups.get(id);
  if (group === undefined || group.name === null) return refuse.invalidUserGroup();
  if (!group.isActive) return refuse.badRequest("User group is deactivated.");
  const isForbidden =
    group.name === "role:internet" || (group.name === "role:everyone" && !channelGroupSettings[setting].allowsEveryone);
  if (group.isSystem && isForbidden) {
    return refuse.badRequest(`'${setting}' setting cannot be set to '${group.name}' group.`);
  }
  return { id, record: null };
}

function anonymousGroup(
  view: View,
  memberIds: readonly number[],
  subgroupIds: readonly number[],
  nextId: number,
): GroupChange | Refusal {
  for (const id of memberIds) {
    const user = view.users.get(id);
    if (user === undefined) return refuse.badRequest(`Invalid user ID: ${id}`);
    if (!user.isActive) return refuse.badRequest("User is deactivated");
  }
  for (const id of subgroupIds) {
    const group = view.groups.get(id);
    if (group === undefined || group.name === null) return refuse.badRequest(`Invalid user group ID: ${id}`);
    if (!group.isActive) return refuse.badRequest("User group is deactivated.");
  }
  const record: GroupRecord = {
    id: nextId,
    name: null,
    description: "",
    isSystem: false,
    isActive: true,
    creatorId: null,
    createdAt: view.now,
    memberIds: ascending(memberIds),
    subgroupIds: ascending(subgroupIds),
  };
  return { id: nextId, record };
}

function ascending(ids: readonly number[]): number[] {
  return [...new Set(ids)].sort((a, b) => a - b);
}
