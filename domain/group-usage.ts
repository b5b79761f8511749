/**
 * Uses of a user group that prevent its deactivation (behaviour 2.6): as a subgroup, and as a holder of permissions.
 */
import { channelGroupSettingNames, realmGroupSettingNames, userGroupSettingNames } from "../schemas/group-settings.ts";
import type { UserRecord } from "../schemas/users.ts";
import type { NamedGroup } from "./group-permissions.ts";
import { hasMetadataAccess } from "./permissions.ts";
import type { View } from "./view.ts";

type Objection = Readonly<Record<string, unknown>>;

export interface GroupUsage {
  readonly isUsed: boolean;
  /** The uses that the viewer may know: private channels unknown to the viewer are left out (S1). */
  readonly objections: readonly Objection[];
}

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
