/**
 * Every permission that a group holds (spec 2.2, 2.4, 2.5; behaviour 1.9, 3.6, 3.7): of channels, of user groups, of the
 * organization. One row says everything about a setting; code reads the tables and never names a setting by hand.
 */
export interface GroupSetting {
  /** Who holds it in a new channel, group or organization; `creator` is the anonymous group of the creator. */
  readonly default: SystemGroupName | "creator";
  /** System groups that may hold it. Without `role:everyone`, guests never satisfy it, not even when named. */
  readonly allowedSystemGroups: readonly SystemGroupName[];
  /** Only a system group may hold it. */
  readonly requiresSystemGroup: boolean;
  /** Who may change it: whoever administers the channel, manages the group, or has this role in the organization. */
  readonly changedBy: "channel-administrator" | "group-manager" | "administrator" | "owner";
}

export interface ChannelGroupSetting extends GroupSetting {
  /** Changing it can make content readable, so it needs content access (D18). */
  readonly needsContentAccess: boolean;
  /** Holding it lets a person know that a private channel exists. */
  readonly grantsMetadata: boolean;
}

/** System groups in ascending order of their ids, widest last (behaviour of the public API). */
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

/** `role:internet` holds nothing: nobody outside the organization may do anything. */
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

/** Whether guests may satisfy the permission (behaviour 3.5). */
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

/** Of a channel (spec 2.4), in the order in which they are checked. */
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

/** Of a user group (spec 2.5). System groups hold none: all of theirs are `role:nobody`'s. */
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

/** Only some system groups may hold these. */
function ofRealmByRole(fallback: SystemGroupName, allowedSystemGroups: readonly SystemGroupName[]): GroupSetting {
  return { ...ofRealm(fallback, allowedSystemGroups), requiresSystemGroup: true };
}

/** Of the organization (D5). */
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
