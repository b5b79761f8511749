/**
 * The view of a realm that decisions and queries get: projections in memory and rows on disk, read-only. Inside a turn
 * it shows the effects of earlier commands (M9); between turns it shows what is on disk.
 */

import type { ApiKeyRecord } from "../schemas/authentication.ts";
import type { ChannelRecord } from "../schemas/channels.ts";
import type { RealmEmojiRecord } from "../schemas/emoji.ts";
import type { GroupScope } from "../schemas/group-scope.ts";
import type { ChannelId, ConversationId, EventPosition, GroupId, MessageId, UserId } from "../schemas/ids.ts";
import type { LinkifierRecord } from "../schemas/linkifiers.ts";
import type { PresenceRecord } from "../schemas/presence.ts";
import type { ProfileFieldRecord, ProfileValueRecord } from "../schemas/profile-fields.ts";
import type { QueueRecord } from "../schemas/queues.ts";
import type { RealmRecord } from "../schemas/realm-settings.ts";
import type { CounterName, KeyOf, RowOf, TableName } from "../schemas/records.ts";
import type { SessionRecord } from "../schemas/sessions.ts";
import type { SubscriptionRecord } from "../schemas/subscriptions.ts";
import type { GroupRecord } from "../schemas/user-groups.ts";
import type { UserRecord } from "../schemas/users.ts";

export interface UsersView {
  get(id: UserId): UserRecord | undefined;
  /** By real address, case-insensitively. */
  byEmail(email: string): UserRecord | undefined;
  /** Ids of all users with this name, case-insensitively. */
  named(fullName: string): ReadonlySet<number>;
  all(): Iterable<UserRecord>;
  readonly size: number;
  readonly activeOwners: number;
  /** Increases whenever a user is added, removed, deactivated or activated; valid within this process. */
  readonly activityVersion: number;
}

/** Ids of bots with an owner, active and deactivated. */
export interface BotsView {
  ofOwner(ownerId: UserId): ReadonlySet<UserId>;
  all(): Iterable<number>;
}

export interface ChannelsView {
  get(id: ChannelId): ChannelRecord | undefined;
  /** Case-insensitively; archived channels keep their names. */
  byName(name: string): ChannelRecord | undefined;
  all(): Iterable<ChannelRecord>;
  readonly size: number;
  /** Number of channels that a user created at a time or later. */
  createdSince(userId: UserId, time: number): number;
}

export interface SubscriptionsView {
  get(userId: UserId, channelId: ChannelId): SubscriptionRecord | undefined;
  isSubscribed(userId: UserId, channelId: ChannelId): boolean;
  /** Active and past subscriptions of a user. */
  ofUser(userId: UserId): Iterable<SubscriptionRecord>;
  /** Ids of subscribers; deactivated users do not count. */
  ofChannel(channelId: ChannelId): ReadonlySet<UserId>;
  /** Increases whenever `ofChannel` changes; valid within this process. */
  versionOf(channelId: ChannelId): number;
  /** Ids of users who were subscribed and left. */
  formerOfChannel(channelId: ChannelId): ReadonlySet<UserId>;
  /** Number of subscriptions, with past ones and those of deactivated users. */
  readonly size: number;
  /** The same of the channels that a user created. */
  inChannelsOf(creatorId: UserId): number;
}

export interface GroupsView {
  /** Increases whenever a group or a membership changes; valid within this process. */
  readonly version: number;
  get(id: GroupId): GroupRecord | undefined;
  system(name: string): GroupRecord | undefined;
  /** A group by its exact name, including system groups and deactivated ones. */
  byName(name: string): GroupRecord | undefined;
  /** Ids of all groups with that name in any case, ascending. */
  named(name: string): readonly number[];
  /** Number of groups with a name. */
  readonly size: number;
  /** Named and anonymous groups: each permission of each channel may have an anonymous one. */
  all(): Iterable<GroupRecord>;
  allNamed(): Iterable<GroupRecord>;
  /** Number of direct members and subgroups of groups with a name. */
  readonly memberships: number;
  /** Number of groups with a name that a user created, and of their direct members and subgroups. */
  createdBy(creatorId: UserId): { readonly groups: number; readonly memberships: number };
  /** undefined if there is no such group. */
  scope(id: GroupId): GroupScope | undefined;
  /**
   * Ids of direct members, including deactivated ones; system groups have none, because their members follow from
   * roles.
   */
  membersOf(id: GroupId): ReadonlySet<UserId>;
  /** Ids of the named groups of which the user is a direct member. */
  ofMember(userId: UserId): readonly GroupId[];
  /** Number of users and groups that all anonymous groups name, once for each group. */
  readonly namesInPermissions: number;
  /** The part of them that the person has named. */
  namesInPermissionsBy(personId: UserId): number;
  /** Whether the user is a direct member of an anonymous group. */
  isNamedInPermissions(userId: UserId): boolean;
}

export interface AlertWordsView {
  /** Ids of users with an alert word in the text. */
  alertedBy(text: string): ReadonlySet<number>;
}

export interface InvitationsView {
  /** Number of invitations of an inviter, including ended ones. */
  ofInviter(inviterId: UserId): number;
}

/** Users who want emails about every message in channels, including deactivated users. */
export interface EmailSubscriptionsView {
  /** By their general setting, for every channel without a setting of its own. */
  readonly everywhere: ReadonlySet<number>;
  /** By their setting for the channel. */
  inChannel(channelId: ChannelId): ReadonlySet<number>;
}

export interface RealmEmojiView {
  get(id: number): RealmEmojiRecord | undefined;
  /** The active emoji of that name; there is at most one. */
  active(name: string): RealmEmojiRecord | undefined;
  all(): Iterable<RealmEmojiRecord>;
}

/** Custom profile fields and users' values for them. */
export interface ProfilesView {
  /** In order. */
  readonly fields: readonly ProfileFieldRecord[];
  field(id: number): ProfileFieldRecord | undefined;
  /** By field id. */
  valuesOf(userId: UserId): ReadonlyMap<number, ProfileValueRecord>;
  /** Ids of users with a value. */
  holders(fieldId: number): ReadonlySet<number>;
}

/** Versions of the data in lists of users: the same version means the same content. */
export interface PeopleVersionsView {
  readonly latest: number;
  /** Version of the block of `encoded_users_per_piece` users that starts at id `piece * encoded_users_per_piece`. */
  ofChunk(chunk: number): number;
}

/** A message's entry in its channel's index. */
export interface IndexedMessage {
  readonly id: number;
  readonly conversationId: ConversationId;
  readonly senderId: UserId;
  /** As in the message's row. */
  readonly traits: number;
}

/** Ids, both exclusive. */
export interface IndexRange {
  readonly above: number;
  readonly below: number;
  readonly limit: number;
}

/**
 * A slice of a table; `start` is inclusive and `end` exclusive, also when `reverse` is set (`start` is then the high
 * end).
 */
export interface RangeOptions<T extends TableName> {
  readonly start?: KeyOf<T> | readonly (number | string)[];
  readonly end?: KeyOf<T> | readonly (number | string)[];
  readonly reverse?: boolean;
  readonly limit: number;
}

/** Changes to what a reader sees, since the last call. */
export interface StaleMessages {
  /** Something changed that may affect any message. */
  readonly isAllStale: boolean;
  readonly messages: ReadonlySet<number>;
  /** Conversations whose row changed, usually because of a newer message, which affects no other message. */
  readonly conversations: ReadonlySet<number>;
}

export interface MessageWatch {
  take(): StaleMessages;
  close(): void;
}

export interface Untracked {
  /** The newest message. */
  readonly message: MessageId;
  /** As View.position. */
  readonly position: EventPosition;
}

export interface View {
  /** The turn's time, or the clock's in a query; in milliseconds, never going back (M4). */
  readonly now: number;
  /** The time up to which messages expire: behind `now` while the clock is not trusted (runtime/clock.ts). */
  readonly dueNow: number;
  /** Number of forward jumps of `dueNow`: clock jumps, or downtime that could not be measured. */
  readonly clockJumps: number;
  /** Whether there have been no requests for a while, so that background work may take large steps. */
  readonly isIdle: boolean;
  /** The position of the next event. */
  readonly position: EventPosition;
  /** Watches what messages show to a reader, until it is closed. */
  watchMessages(readerId: UserId): MessageWatch;
  /** The last value taken from a counter. */
  counter(name: CounterName): number;
  /** The newest message id that no crash can undo. A read up to there does not wait for newer messages (M9). */
  readonly newestDurableMessage: MessageId;
  /** For bounds and caches of a read. Reads of these are not tracked (M9), so no answer may show them. */
  readonly untracked: Untracked;
  /** Number of rows in a table. */
  count(table: TableName): number;
  readonly realm: RealmRecord;
  readonly users: UsersView;
  readonly bots: BotsView;
  readonly channels: ChannelsView;
  readonly subscriptions: SubscriptionsView;
  readonly groups: GroupsView;
  readonly realmEmoji: RealmEmojiView;
  readonly alertWords: AlertWordsView;
  readonly emailSubscriptions: EmailSubscriptionsView;
  readonly invitations: InvitationsView;
  readonly profiles: ProfilesView;
  /** In the order in which they are tried. */
  readonly linkifiers: readonly LinkifierRecord[];
  readonly peopleVersions: PeopleVersionsView;
  apiKey(hash: string): ApiKeyRecord | undefined;
  apiKeysOf(userId: UserId): readonly ApiKeyRecord[];
  session(hash: string): SessionRecord | undefined;
  sessionsOf(userId: UserId): readonly SessionRecord[];
  queue(id: string): QueueRecord | undefined;
  queuesOf(userId: UserId): ReadonlySet<string>;
  presence(userId: UserId): PresenceRecord | undefined;
  /** Messages of a channel, newest first; the newest are cached. */
  channelIndex(channelId: ChannelId, range: IndexRange): readonly IndexedMessage[];
  /** Users with a policy for the topic with that folded name, ascending, usually cached; null if there are too many. */
  topicPoliciesOf(
    channelId: ChannelId,
    foldedTopic: string,
  ): readonly { readonly userId: UserId; readonly visibilityPolicy: number }[] | null;
  /** Whether the user has fewer than `user_topics_per_user_max` policies for topics. */
  hasTopicRoom(userId: UserId): boolean;
  /** Reads a row; inside a turn it sees the turn's own writes. */
  row<T extends TableName>(table: T, key: KeyOf<T>): RowOf<T> | undefined;
  /** The same for a scan of many rows, which would replace everything else in a cache. */
  scannedRow<T extends TableName>(table: T, key: KeyOf<T>): RowOf<T> | undefined;
  /** Rows of a slice, read at once: no cursor stays open (pitfalls 1.4). */
  rows<T extends TableName>(table: T, range: RangeOptions<T>): { key: KeyOf<T>; row: RowOf<T> }[];
  /** Keys of a slice. */
  keys<T extends TableName>(table: T, range: RangeOptions<T>): KeyOf<T>[];
}
