/**
 * How many named groups, and how many direct members and subgroups of them, an organization and one person may have
 * (S3, D130). Requests that are applied in parts at that moment count with the parts that have been applied.
 *
 * Rules for names of user groups (behaviour 3.6).
 */
import { type Refusal, refuse } from "../schemas/errors.ts";
import { channelGroupSettingNames, realmGroupSettingNames, userGroupSettingNames } from "../schemas/group-settings.ts";
import { limits } from "../schemas/limits.ts";
import type { GroupRecord } from "../schemas/user-groups.ts";
import type { UserRecord } from "../schemas/users.ts";
import type { NamedGroup } from "./group-permissions.ts";
import { hasMetadataAccess, isAdministrator } from "./permissions.ts";
import { checkCharacters, codePoints } from "./text.ts";
import type { View } from "./view.ts";

type Objection = Readonly<Record<string, unknown>>;

interface GroupUsage {
  readonly isUsed: boolean;
  /** The uses that the viewer may know: private channels unknown to the viewer are left out (S1). */
  readonly objections: readonly Objection[];
}

/**
 * Uses of a user group that prevent its deactivation (behaviour 2.6): as a subgroup, and as a holder of permissions.
 */
export function groupUsage(view: View, group: NamedGroup, viewer: UserRecord): GroupUsage {
  const containers = [...view.groups.all()].filter(({ subgroupIds }) => subgroupIds.includes(group.id));
  const supergroupIds = containers.filter(({ name, isActive }) => name !== null && isActive).map(({ id }) => id);
  // A group holds a permission directly, or as part of an anonymous group.
  const holders = new Set([group.id, ...containers.filter(({ name }) => name === null).map(({ id }) => id)]);
  const holds = (id: unknown) => typeof id === "number" && holders.has(id);

  const subgroup = supergroupIds.length === 0 ? [] : [{ type: "subgroup", supergroup_ids: ascending(supergroupIds) }];
  const channels = [...view.channels.all()].flatMap((channel) => {
    const settings = channel.isArchived ? [] : channelGroupSettingNames.filter((name) => holds(channel.groups[name]));
    return settings.length === 0 ? [] : [{ channel, settings }];
  });
  const groups = [...view.groups.all()].flatMap((other) => {
    if (other.name === null || !other.isActive) return [];
    const settings = userGroupSettingNames.filter((name) => holds(other.settings[name]));
    return settings.length === 0 ? [] : [{ type: "user_group", group_id: other.id, settings }];
  });
  const realmSettings = realmGroupSettingNames.filter((name) => holds(view.realm.settings[name]));
  const realm = realmSettings.length === 0 ? [] : [{ type: "realm", settings: realmSettings }];
  const shown = channels.filter(({ channel }) => hasMetadataAccess(view, viewer, channel));
  return {
    isUsed: [subgroup, channels, groups, realm].some((found) => found.length > 0),
    objections: [
      ...subgroup,
      ...shown.map(({ channel, settings }) => ({ type: "channel", channel_id: channel.id, settings })),
      ...groups,
      ...realm,
    ],
  };
}

function ascending(ids: readonly number[]): number[] {
  return [...ids].sort((a, b) => a - b);
}

/** Prefixes that are reserved for system groups and mentions. */
const forbiddenBeginnings = ["@", "role:", "user:", "stream:", "channel:"] as const;

export function checkGroupName(name: string): Refusal | null {
  if (name.trim() === "") return refuse.badRequest("User group name can't be empty!");
  if (codePoints(name) > limits.group_name_code_points_max) {
    return refuse.badRequest(`User group name cannot exceed ${limits.group_name_code_points_max} characters.`);
  }
  const beginning = forbiddenBeginnings.find((candidate) => name.startsWith(candidate));
  if (beginning !== undefined) return refuse.badRequest(`User group name cannot start with '${beginning}'.`);
  return checkCharacters("user group name", name);
}

/** Deactivated groups keep their names. */
export function checkGroupNameFree(view: View, name: string): Refusal | null {
  return view.groups.byName(name) === undefined ? null : refuse.badRequest(`User group '${name}' already exists.`);
}

/** Why the caller may not create one more group, or null. */
export function checkGroupsLeft(view: View, caller: UserRecord): Refusal | null {
  if (view.groups.size >= limits.user_groups_per_realm_max) return refuse.badRequest("Too many user groups");
  if (isAdministrator(caller)) return null;
  const most = limits.user_groups_per_person_max;
  if (view.groups.createdBy(caller.id).groups < most) return null;
  return refuse.badRequest(`You have created too many user groups (maximum ${most}).`);
}

/**
 * Why the group may not get so many more members, or null.
 * @param added number of users and subgroups that are added, less those that are removed
 */
export function checkMembershipsLeft(
  view: View,
  caller: UserRecord,
  { creatorId }: Pick<GroupRecord, "creatorId">,
  added: number,
): Refusal | null {
  if (added <= 0) return null;
  const most = limits.group_memberships_per_person_max;
  const creator = creatorId === null ? undefined : view.users.get(creatorId);
  const isLimited = creator !== undefined && !isAdministrator(creator) && !isAdministrator(caller);
  if (isLimited && view.groups.createdBy(creator.id).memberships + added > most) {
    return refuse.badRequest(`The groups of their creator have too many members (maximum ${most}).`);
  }
  return view.groups.memberships + added <= limits.group_memberships_per_realm_max
    ? null
    : refuse.badRequest("The groups of this organization have too many members.");
}
