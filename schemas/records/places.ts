/** Durable shapes of an organization and its places: groups, channels and what surrounds them. The rules of `schemas/records.ts` hold. */
import type { GroupSettingName, UserGroupSettingName } from "../group-settings.ts";
import type { TopicsPolicy } from "../types.ts";

/** A folder of channels (spec 2.10, 4.5). Archived ones keep their names. */
export interface ChannelFolderRecord {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly renderedDescription: string;
  readonly creatorId: number | null;
  readonly createdAt: number;
  readonly isArchived: boolean;
  /** Position in the list. */
  readonly order: number;
}

/** A pattern that turns what it matches into a link (public API: /realm/linkifiers). */
export interface LinkifierRecord {
  readonly id: number;
  /** With named groups as `(?P<name>...)`. */
  readonly pattern: string;
  /** RFC 6570. */
  readonly urlTemplate: string;
  /** Lower ones are tried first. */
  readonly order: number;
}

/** Where clients let people run code of a language (spec 2.10, 4.18). */
export interface PlaygroundRecord {
  readonly id: number;
  readonly name: string;
  /** The name of a lexer, as it was given. */
  readonly language: string;
  /** RFC 6570, of one variable: `code`. */
  readonly urlTemplate: string;
}

/** One person's policy for one topic (public API: update-user-topic). No row: none. */
export interface UserTopicRecord {
  /** As it was spelt. */
  readonly topic: string;
  /** 1 muted, 2 unmuted, 3 followed. */
  readonly visibilityPolicy: number;
  readonly changedAt: number;
}

/** The same policy, found by its topic: who follows it, and whom its move concerns. */
export interface TopicPolicyRecord {
  readonly visibilityPolicy: number;
}

/** Since when somebody who follows events knows of a channel: what was told of it before is not repeated to them (E2, S1). */
export interface ChannelSightRecord {
  /** Of the first event that may be told. */
  readonly sincePosition: number;
}

/** What an organization is (spec 1). Values of realm settings that were never set are absent: see settings.ts. */
export interface RealmRecord {
  readonly id: number;
  /** First label of its host; "" for the default realm (D34). */
  readonly label: string;
  readonly name: string;
  readonly createdAt: number;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Personal settings that new people start with, where they differ from the program's (spec 4.2). */
  readonly userDefaults: Readonly<Record<string, unknown>>;
  /** Since when nobody is let in; null: everybody is. */
  readonly deactivatedAt: number | null;
}

/** A named group, or (name null) the anonymous group behind a group-setting value (spec 2.2, 2.5). */
export interface GroupRecord {
  readonly id: number;
  readonly name: string | null;
  readonly description: string;
  readonly isSystem: boolean;
  readonly isActive: boolean;
  readonly creatorId: number | null;
  readonly createdAt: number | null;
  /** Direct members of an anonymous group. Those of a named one are rows of `groupMembers`. */
  readonly memberIds: readonly number[];
  readonly subgroupIds: readonly number[];
  /** Group ids by setting name; a missing one is `role:nobody`'s. */
  readonly settings: Readonly<Partial<Record<UserGroupSettingName, number>>>;
}

export interface ChannelRecord {
  readonly id: number;
  /** `recipient_id` of its messages (spec 2.9). */
  readonly recipientId: number;
  readonly name: string;
  readonly description: string;
  readonly renderedDescription: string;
  readonly creatorId: number | null;
  readonly createdAt: number;
  readonly isPrivate: boolean;
  readonly isWebPublic: boolean;
  readonly isHistoryPublic: boolean;
  readonly isDefault: boolean;
  readonly isArchived: boolean;
  /** null: the realm's; -1: unlimited (behaviour of the public API). */
  readonly messageRetentionDays: number | null;
  readonly folderId: number | null;
  readonly topicsPolicy: TopicsPolicy;
  readonly firstMessageId: number | null;
  /** Group ids by setting name; a missing one has the default of the settings table. */
  readonly groups: Readonly<Partial<Record<GroupSettingName, number>>>;
}

/**
 * One stay in a channel: half-open in event positions and message ids, both taken in the turn that began or ended it.
 * Position p lies inside when joinedAtPosition <= p < leftAtPosition; message m when joinedAfterId < m <= leftAtId.
 */
export interface Stay {
  readonly joinedAtPosition: number;
  readonly joinedAfterId: number;
  readonly leftAtPosition: number | null;
  readonly leftAtId: number | null;
}

export interface SubscriptionRecord {
  readonly userId: number;
  readonly channelId: number;
  readonly isActive: boolean;
  readonly color: string;
  readonly isMuted: boolean;
  readonly pinToTop: boolean;
  /** desktop, audible, push, email, wildcard mentions: null inherits the user's setting. */
  readonly notifications: readonly (boolean | null)[];
  /** Newest last. Old ones are merged when there are more than `stays_max`. */
  readonly stays: readonly Stay[];
}
