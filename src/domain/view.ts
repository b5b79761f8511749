/**
 * What a decision or a query may see of a realm: projections in memory and rows on disk, read only.
 * Inside a turn it shows what the commands before it did (M9); between turns it shows what is on disk.
 */

import type { GroupScope } from "../../schemas/group-scope.ts";
import type {
  ApiKeyRecord,
  ChannelRecord,
  CounterName,
  GroupRecord,
  KeyOf,
  LinkifierRecord,
  PresenceRecord,
  ProfileFieldRecord,
  ProfileValueRecord,
  QueueRecord,
  RealmEmojiRecord,
  RealmRecord,
  RowOf,
  SubscriptionRecord,
  TableName,
  UserRecord,
} from "../../schemas/records.ts";

export interface UsersView {
  get(id: number): UserRecord | undefined;
  /** By real address, case-insensitively. */
  byEmail(email: string): UserRecord | undefined;
  /** Ids of everybody with this name, case-insensitively. */
  named(fullName: string): ReadonlySet<number>;
  all(): Iterable<UserRecord>;
  readonly size: number;
  readonly activeOwners: number;
}

/** Ids of bots that somebody owns, active and deactivated ones. */
export interface BotsView {
  ofOwner(ownerId: number): ReadonlySet<number>;
  all(): Iterable<number>;
}

export interface ChannelsView {
  get(id: number): ChannelRecord | undefined;
  /** Case-insensitively; archived channels keep their names. */
  byName(name: string): ChannelRecord | undefined;
  all(): Iterable<ChannelRecord>;
  readonly size: number;
}

export interface SubscriptionsView {
  get(userId: number, channelId: number): SubscriptionRecord | undefined;
  isSubscribed(userId: number, channelId: number): boolean;
  /** Active and past subscriptions of a person. */
  ofUser(userId: number): Iterable<SubscriptionRecord>;
  /** Ids of subscribers; deactivated people do not count. */
  ofChannel(channelId: number): ReadonlySet<number>;
  /** Ids of people who were subscribed and left. */
  formerOfChannel(channelId: number): ReadonlySet<number>;
}

export interface GroupsView {
  get(id: number): GroupRecord | undefined;
  system(name: string): GroupRecord | undefined;
  /** A group by its name, exactly as it is written; system groups and deactivated ones, too. */
  byName(name: string): GroupRecord | undefined;
  /** Ids of all groups of that name, in whatever case, ascending. */
  named(name: string): readonly number[];
  /** How many groups have a name. */
  readonly size: number;
  all(): Iterable<GroupRecord>;
  /** undefined: there is no such group. */
  scope(id: number): GroupScope | undefined;
  /** Ids of direct members, also of deactivated ones; system groups have none: theirs follow from roles. */
  membersOf(id: number): ReadonlySet<number>;
  /** Ids of the groups, named and anonymous, that somebody is a direct member of. */
  ofMember(userId: number): readonly number[];
}

export interface AlertWordsView {
  /** Ids of people one of whose alert words stands in the text. */
  alertedBy(text: string): ReadonlySet<number>;
}

/** Who wants mails about everything in channels; deactivated people, too. */
export interface MailWishesView {
  /** By their own setting, for every channel that does not say otherwise. */
  readonly everywhere: ReadonlySet<number>;
  /** By what they set for the channel. */
  inChannel(channelId: number): ReadonlySet<number>;
}

export interface RealmEmojiView {
  get(id: number): RealmEmojiRecord | undefined;
  /** The one active emoji of that name. */
  active(name: string): RealmEmojiRecord | undefined;
  all(): Iterable<RealmEmojiRecord>;
}

/** Custom profile fields and people's values for them. */
export interface ProfilesView {
  /** In their order. */
  readonly fields: readonly ProfileFieldRecord[];
  field(id: number): ProfileFieldRecord | undefined;
  /** By id of the field. */
  valuesOf(userId: number): ReadonlyMap<number, ProfileValueRecord>;
  /** Ids of people with a value. */
  holders(fieldId: number): ReadonlySet<number>;
}

/** Numbers of what lists of users are made of: with the same number, the content is the same. */
export interface PeopleVersionsView {
  readonly latest: number;
  /** Of the people with ids from `piece * encoded_users_per_piece` on, as many as that. */
  ofPiece(piece: number): number;
}

/** What a channel's index says of a message. */
export interface IndexedMessage {
  readonly id: number;
  readonly conversationId: number;
  readonly senderId: number;
  /** As in the message's row. */
  readonly traits: number;
}

/** Ids, both exclusive. */
export interface IndexRange {
  readonly above: number;
  readonly below: number;
  readonly limit: number;
}

/** A slice of a table; `start` inclusive, `end` exclusive, also when `reverse` (start is then the high end). */
export interface RangeOptions<T extends TableName> {
  readonly start?: KeyOf<T> | readonly (number | string)[];
  readonly end?: KeyOf<T> | readonly (number | string)[];
  readonly reverse?: boolean;
  readonly limit: number;
}

/** What changed of what a reader is shown, since it was last asked. */
export interface StaleMessages {
  /** Something changed that may shape any message. */
  readonly isAllStale: boolean;
  readonly messages: ReadonlySet<number>;
  /** Conversations whose row changed: mostly because of a newer message, which shapes no other. */
  readonly conversations: ReadonlySet<number>;
}

export interface MessageWatch {
  take(): StaleMessages;
  close(): void;
}

export interface View {
  /** The turn's time, or the clock's in a query; milliseconds, never going back (M4). */
  readonly now: number;
  /** Up to when messages expire: behind `now` while it is not certain that the clock is right (runtime/realm-time.ts). */
  readonly dueNow: number;
  /** How many jumps ahead `dueNow` has made: of the clock, or of a downtime that nothing measured. */
  readonly leaps: number;
  /** Whether nobody has asked for anything for a while: long work may go on in large pieces. */
  readonly isQuiet: boolean;
  /** Position that the next event will get. */
  readonly position: number;
  /** Watches from now on what messages show to a reader, until it is closed. */
  watchMessages(readerId: number): MessageWatch;
  /** The last value that was taken of a counter. */
  counter(name: CounterName): number;
  /** How many rows a table has. */
  count(table: TableName): number;
  readonly realm: RealmRecord;
  readonly users: UsersView;
  readonly bots: BotsView;
  readonly channels: ChannelsView;
  readonly subscriptions: SubscriptionsView;
  readonly groups: GroupsView;
  readonly realmEmoji: RealmEmojiView;
  readonly alertWords: AlertWordsView;
  readonly mailWishes: MailWishesView;
  readonly profiles: ProfilesView;
  /** In the order in which they are tried. */
  readonly linkifiers: readonly LinkifierRecord[];
  readonly peopleVersions: PeopleVersionsView;
  apiKey(hash: string): ApiKeyRecord | undefined;
  apiKeysOf(userId: number): readonly ApiKeyRecord[];
  queue(id: string): QueueRecord | undefined;
  queuesOf(userId: number): ReadonlySet<string>;
  presence(userId: number): PresenceRecord | undefined;
  /** Messages of a channel, newest first: the newest are at hand without reading. */
  channelIndex(channelId: number, range: IndexRange): readonly IndexedMessage[];
  /** People with a policy for a topic of that name, folded, ascending, mostly known without reading; null: very many. */
  topicPoliciesOf(
    channelId: number,
    foldedTopic: string,
  ): readonly { readonly userId: number; readonly visibilityPolicy: number }[] | null;
  /** Reads a row; inside a turn it sees the turn's own writes. */
  row<T extends TableName>(table: T, key: KeyOf<T>): RowOf<T> | undefined;
  /** Rows of a slice, read at once: no cursor stays open (pitfalls 1.4). */
  rows<T extends TableName>(table: T, range: RangeOptions<T>): { key: KeyOf<T>; row: RowOf<T> }[];
  /** Keys of a slice. */
  keys<T extends TableName>(table: T, range: RangeOptions<T>): KeyOf<T>[];
}
