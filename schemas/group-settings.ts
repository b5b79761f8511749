/**
 * The permissions of a channel that are held by groups (spec 2.2, 2.4), in the order in which they are checked.
 * One row says everything about a setting; code reads the table and never names a setting by hand.
 */
export interface GroupSetting {
  /** Name of the system group that holds it in a new channel; `creator` is the anonymous group of the creator. */
  readonly default: SystemGroupName | "creator";
  /** Whether `role:everyone` may hold it; if not, guests never satisfy it, not even when named. */
  readonly allowsEveryone: boolean;
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

export const channelGroupSettings = {
  can_add_subscribers_group: {
    default: "role:nobody",
    allowsEveryone: false,
    needsContentAccess: true,
    grantsMetadata: true,
  },
  can_administer_channel_group: {
    default: "creator",
    allowsEveryone: false,
    needsContentAccess: false,
    grantsMetadata: true,
  },
  can_delete_any_message_group: {
    default: "role:nobody",
    allowsEveryone: true,
    needsContentAccess: false,
    grantsMetadata: false,
  },
  can_delete_own_message_group: {
    default: "role:nobody",
    allowsEveryone: true,
    needsContentAccess: false,
    grantsMetadata: false,
  },
  can_move_messages_out_of_channel_group: {
    default: "role:nobody",
    allowsEveryone: true,
    needsContentAccess: false,
    grantsMetadata: false,
  },
  can_move_messages_within_channel_group: {
    default: "role:nobody",
    allowsEveryone: true,
    needsContentAccess: false,
    grantsMetadata: false,
  },
  can_remove_subscribers_group: {
    default: "role:administrators",
    allowsEveryone: true,
    needsContentAccess: false,
    grantsMetadata: false,
  },
  can_send_message_group: {
    default: "role:everyone",
    allowsEveryone: true,
    needsContentAccess: false,
    grantsMetadata: false,
  },
  can_subscribe_group: {
    default: "role:nobody",
    allowsEveryone: false,
    needsContentAccess: true,
    grantsMetadata: true,
  },
  can_resolve_topics_group: {
    default: "role:nobody",
    allowsEveryone: true,
    needsContentAccess: false,
    grantsMetadata: false,
  },
} as const satisfies Record<string, GroupSetting>;

export type GroupSettingName = keyof typeof channelGroupSettings;
export const channelGroupSettingNames = Object.keys(channelGroupSettings) as GroupSettingName[];
