/**
 * All permissions held by groups (spec 2.2, 2.4, 2.5; behaviour 1.9, 3.6, 3.7), for channels, user groups and the
 * organization. One row describes a setting completely; code reads the tables and names no setting itself.
 */
export interface GroupSetting {
  /** The holder in a new channel, group or organization; `creator` is the creator's anonymous group. */
  readonly default: SystemGroupName | "creator";
  /**
   * System groups that may hold it. If `role:everyone` is not among them, guests never have the permission, even if
   * they are named.
   */
  readonly allowedSystemGroups: readonly SystemGroupName[];
  /** Only a system group may hold it. */
  readonly requiresSystemGroup: boolean;
  /**
   * The people who may change it: administrators of the channel, managers of the group, or users with this role in the
   * organization.
   */
  readonly changedBy: "channel-administrator" | "group-manager" | "administrator" | "owner";
}

export interface ChannelGroupSetting extends GroupSetting {
  /** A change can make content readable, so it requires content access (D18). */
  readonly needsContentAccess: boolean;
  /** Its holders can see a private channel. */
  readonly grantsMetadata: boolean;
}

/** System groups in ascending order of ids, widest last (behaviour of the public API). */
export const systemGroups = {
  "role:nobody": { description: "Nobody", displayName: "Nobody", roleMax: 0 },
  "role:owners": { description: "Owners of this organization", displayName: "Owners", roleMax: 100 },
  "role:administrators": {
    description: "Administrators of this organization, including owners",
    displayName: "Administrators",
    roleMax: 200,
  },
  "role:moderators": {
    description: "Moderators of this organization, including administrators",
    displayName: "Moderators",
    roleMax: 300,
  },
  "role:fullmembers": {
    description: "Members of this organization, not including new accounts and guests",
    displayName: "Full members",
    roleMax: 400,
  },
  "role:members": {
    description: "Members of this organization, not including guests",
    displayName: "Members",
    roleMax: 400,
  },
  "role:everyone": {
    description: "Everyone in this organization, including guests",
    displayName: "Everyone",
    roleMax: 600,
  },
  "role:internet": { description: "Everyone on the Internet", displayName: "Everyone on the internet", roleMax: 600 },
} as const;
export type SystemGroupName = keyof typeof systemGroups;
export const systemGroupNames = Object.keys(systemGroups) as SystemGroupName[];

/** `role:internet` holds no permission: people outside the organization may do nothing. */
const members: readonly SystemGroupName[] = [
  "role:nobody",
  "role:owners",
  "role:administrators",
  "role:moderators",
  "role:fullmembers",
  "role:members",
];
const everyone: readonly SystemGroupName[] = [...members, "role:everyone"];

function without(names: readonly SystemGroupName[], missing: SystemGroupName): readonly SystemGroupName[] {
  return names.filter((name) => name !== missing);
}

/** Whether guests can have the permission (behaviour 3.5). */
export function allowsGuests(setting: GroupSetting): boolean {
  return setting.allowedSystemGroups.includes("role:everyone");
}

function ofChannel(
  fallback: GroupSetting["default"],
  allowedSystemGroups: readonly SystemGroupName[],
  traits: Partial<Pick<ChannelGroupSetting, "needsContentAccess" | "grantsMetadata">> = {},
): ChannelGroupSetting {
  return {
    default: fallback,
    allowedSystemGroups,
    requiresSystemGroup: false,
    changedBy: "channel-administrator",
    needsContentAccess: traits.needsContentAccess ?? false,
    grantsMetadata: traits.grantsMetadata ?? false,
  };
}

/** Permissions in a channel (spec 2.4), in the order of the checks. */
export const channelGroupSettings = {
  can_add_subscribers_group: ofChannel("role:nobody", members, { needsContentAccess: true, grantsMetadata: true }),
  can_administer_channel_group: ofChannel("creator", members, { grantsMetadata: true }),
  can_delete_any_message_group: ofChannel("role:nobody", everyone),
  can_delete_own_message_group: ofChannel("role:nobody", everyone),
  can_move_messages_out_of_channel_group: ofChannel("role:nobody", everyone),
  can_move_messages_within_channel_group: ofChannel("role:nobody", everyone),
  can_remove_subscribers_group: ofChannel("role:administrators", everyone),
  can_send_message_group: ofChannel("role:everyone", everyone),
  can_subscribe_group: ofChannel("role:nobody", members, { needsContentAccess: true, grantsMetadata: true }),
  can_resolve_topics_group: ofChannel("role:nobody", everyone),
} as const satisfies Record<string, ChannelGroupSetting>;
export type GroupSettingName = keyof typeof channelGroupSettings;
export const channelGroupSettingNames = Object.keys(channelGroupSettings) as GroupSettingName[];

function ofUserGroup(fallback: GroupSetting["default"], allowedSystemGroups: readonly SystemGroupName[]): GroupSetting {
  return { default: fallback, allowedSystemGroups, requiresSystemGroup: false, changedBy: "group-manager" };
}

/** Permissions for a user group (spec 2.5). For system groups, all are held by `role:nobody`. */
export const userGroupSettings = {
  can_add_members_group: ofUserGroup("creator", members),
  can_join_group: ofUserGroup("role:nobody", members),
  can_leave_group: ofUserGroup("role:everyone", everyone),
  can_manage_group: ofUserGroup("creator", members),
  can_mention_group: ofUserGroup("role:everyone", without(everyone, "role:owners")),
  can_remove_members_group: ofUserGroup("role:nobody", members),
} as const satisfies Record<string, GroupSetting>;
export type UserGroupSettingName = keyof typeof userGroupSettings;
export const userGroupSettingNames = Object.keys(userGroupSettings) as UserGroupSettingName[];

function ofRealm(
  fallback: SystemGroupName,
  allowedSystemGroups: readonly SystemGroupName[],
  changedBy: "administrator" | "owner" = "administrator",
): GroupSetting {
  return { default: fallback, allowedSystemGroups, requiresSystemGroup: false, changedBy };
}

/** Permissions that only certain system groups may hold. */
function ofRealmByRole(fallback: SystemGroupName, allowedSystemGroups: readonly SystemGroupName[]): GroupSetting {
  return { ...ofRealm(fallback, allowedSystemGroups), requiresSystemGroup: true };
}

/** Permissions in the organization (D5). */
export const realmGroupSettings = {
  create_multiuse_invite_group: ofRealm("role:administrators", members, "owner"),
  can_access_all_users_group: ofRealmByRole("role:everyone", ["role:everyone", "role:members"]),
  can_add_custom_emoji_group: ofRealm("role:members", members),
  can_add_subscribers_group: ofRealm("role:members", members),
  can_create_bots_group: ofRealm("role:members", members),
  can_create_groups: ofRealm("role:members", members, "owner"),
  can_create_private_channel_group: ofRealm("role:members", members),
  can_create_public_channel_group: ofRealm("role:members", members),
  can_create_web_public_channel_group: ofRealmByRole("role:owners", [
    "role:moderators",
    "role:administrators",
    "role:owners",
    "role:nobody",
  ]),
  can_create_write_only_bots_group: ofRealm("role:members", members),
  can_delete_any_message_group: ofRealm("role:administrators", members),
  can_delete_own_message_group: ofRealm("role:everyone", everyone),
  can_invite_users_group: ofRealm("role:members", members, "owner"),
  can_manage_all_groups: ofRealm("role:owners", without(members, "role:nobody"), "owner"),
  can_manage_billing_group: ofRealm("role:administrators", without(members, "role:nobody"), "owner"),
  can_mention_many_users_group: ofRealm("role:administrators", everyone),
  can_move_messages_between_channels_group: ofRealm("role:members", members),
  can_move_messages_between_topics_group: ofRealm("role:everyone", everyone),
  can_resolve_topics_group: ofRealm("role:everyone", everyone),
  can_set_delete_message_policy_group: ofRealm("role:moderators", members),
  can_set_topics_policy_group: ofRealm("role:members", everyone),
  can_summarize_topics_group: ofRealm("role:everyone", everyone),
  direct_message_initiator_group: ofRealm("role:everyone", everyone),
  direct_message_permission_group: ofRealm("role:everyone", everyone),
} as const satisfies Record<string, GroupSetting>;
export type RealmGroupSettingName = keyof typeof realmGroupSettings;
export const realmGroupSettingNames = Object.keys(realmGroupSettings) as RealmGroupSettingName[];
