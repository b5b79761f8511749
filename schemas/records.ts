/**
 * Durable shapes. A row is written as the list of its `fields` in this order (store/codec.ts), with the table's
 * version in front: fields are only ever appended, anything else needs a migration (store/migrations.ts).
 * Absent is `null`, never `undefined`. Times are milliseconds (D26). No collection that grows lives in a row.
 */
import type { GroupSettingName, UserGroupSettingName } from "./group-settings.ts";
import type {
  MessageEditRecord,
  MessageMoveRecord,
  MessageRecord,
  ReactionRecord,
  TopicRenameRecord,
} from "./records/conversations.ts";
import type {
  AlertWordRecord,
  ApiKeyRecord,
  BotRecord,
  BotServiceRecord,
  CredentialRecord,
  DraftRecord,
  EmailChangeRecord,
  LoginRecord,
  MailRecord,
  MutedUserRecord,
  NavigationViewRecord,
  ProfileFieldRecord,
  ProfileValueRecord,
  RealmEmojiRecord,
  SavedSnippetRecord,
  StatusRecord,
  UserRecord,
} from "./records/people.ts";
import type {
  ChannelFolderRecord,
  ChannelSightRecord,
  LinkifierRecord,
  TopicPolicyRecord,
  UserTopicRecord,
} from "./records/places.ts";
import type {
  MessageAttentionRecord,
  MessageIndexRecord,
  ReadExceptionRecord,
  ReadFloorRecord,
  ReadStateRecord,
} from "./records/read-state.ts";
import type {
  DeadLetterRecord,
  EventRecord,
  IdempotencyRecord,
  MailboxRecord,
  PresenceRecord,
  QueueRecord,
  TimerRecord,
} from "./records/runtime.ts";
import { type SearchTables, searchRowFields } from "./records/search.ts";
import type { TopicsPolicy } from "./types.ts";

export type * from "./records/conversations.ts";
export type * from "./records/people.ts";
export type * from "./records/places.ts";
export type * from "./records/read-state.ts";
export type * from "./records/runtime.ts";
export type * from "./records/search.ts";

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

/** Snapshot of a machine: the state's name and its context, with the machine's version (M4, passivation). */
export interface SnapshotRecord {
  readonly version: number;
  readonly state: string;
  readonly context: unknown;
}

/** What a conversation is. Kept as the topic machine's context; the row doubles as the list of topics. */
export interface ConversationRecord {
  readonly id: number;
  readonly state: string;
  readonly version: number;
  readonly channelId: number | null;
  /** The topic as first written; compared case-insensitively. "" for direct messages. */
  readonly topic: string;
  /** Participants of a direct conversation, ascending; null in channels. */
  readonly userIds: readonly number[] | null;
  readonly lastMessageId: number;
  /** How often the topic was renamed as a whole: with 0 nobody looks for rows of `topicRenames`. */
  readonly renames: number;
  /** The move that is taking messages out or telling of a new name at the moment; null: none. */
  readonly movingId: number | null;
}

type Key = number | string | readonly (number | string)[];

/** Every table of a realm's environment: its key, its row, and the order of the row's fields on disk. */
export interface Tables extends SearchTables {
  meta: { key: string; row: { readonly value: unknown } };
  realm: { key: string; row: RealmRecord };
  users: { key: number; row: UserRecord };
  credentials: { key: number; row: CredentialRecord };
  apiKeys: { key: string; row: ApiKeyRecord };
  groups: { key: number; row: GroupRecord };
  /** Direct members of named groups that are not system groups. */
  groupMembers: { key: readonly [groupId: number, userId: number]; row: Empty };
  channelFolders: { key: number; row: ChannelFolderRecord };
  userTopics: { key: readonly [userId: number, channelId: number, foldedTopic: string]; row: UserTopicRecord };
  topicPolicies: { key: readonly [channelId: number, foldedTopic: string, userId: number]; row: TopicPolicyRecord };
  channels: { key: number; row: ChannelRecord };
  /** Who follows events came to know of a private channel later than they began, without being in it. */
  channelSights: { key: readonly [channelId: number, userId: number]; row: ChannelSightRecord };
  /** By channel: thousands who join one at once are neighbours on disk. Who is in what is looked up in memory. */
  subscriptions: { key: readonly [channelId: number, userId: number]; row: SubscriptionRecord };
  conversations: { key: number; row: ConversationRecord };
  topicNames: { key: readonly [channelId: number, foldedTopic: string]; row: { readonly id: number } };
  directNames: { key: string; row: { readonly id: number } };
  directConversations: { key: readonly [userId: number, conversationId: number]; row: Empty };
  messages: { key: number; row: MessageRecord };
  conversationMessages: { key: readonly [conversationId: number, messageId: number]; row: MessageIndexRecord };
  channelMessages: {
    key: readonly [channelId: number, messageId: number];
    row: { readonly conversationId: number } & MessageIndexRecord;
  };
  messageEdits: { key: readonly [messageId: number, sequence: number]; row: MessageEditRecord };
  /** In the order of `move` ids, which renames and moves share. */
  topicRenames: { key: readonly [conversationId: number, moveId: number]; row: TopicRenameRecord };
  messageMoves: { key: number; row: MessageMoveRecord };
  /** `emoji` is type and code. */
  reactions: { key: readonly [messageId: number, userId: number, emoji: string]; row: ReactionRecord };
  /** Only for messages with the trait `callsAttention`. */
  messageAttention: { key: number; row: MessageAttentionRecord };
  readStates: { key: number; row: ReadStateRecord };
  /** `kind` is one of `floorKinds`; the place is a channel, a conversation or a sender. */
  readFloors: { key: readonly [kind: number, placeId: number, userId: number]; row: ReadFloorRecord };
  readExceptions: { key: readonly [userId: number, messageId: number]; row: ReadExceptionRecord };
  /** `flag` is one of `personalFlags`. */
  messageFlags: { key: readonly [userId: number, flag: number, messageId: number]; row: Empty };
  snapshots: { key: string; row: SnapshotRecord };
  events: { key: number; row: EventRecord };
  queues: { key: string; row: QueueRecord };
  mailbox: { key: number; row: MailboxRecord };
  timers: { key: readonly [dueAt: number, sequence: number]; row: TimerRecord };
  deadLetters: { key: number; row: DeadLetterRecord };
  idempotency: { key: readonly [userId: number, keyHash: string]; row: IdempotencyRecord };
  idempotencyAges: { key: readonly [userId: number, at: number, keyHash: string]; row: Empty };
  presence: { key: number; row: PresenceRecord };
  bots: { key: number; row: BotRecord };
  botServices: { key: number; row: BotServiceRecord };
  statuses: { key: number; row: StatusRecord };
  profileFields: { key: number; row: ProfileFieldRecord };
  profileValues: { key: readonly [userId: number, fieldId: number]; row: ProfileValueRecord };
  savedSnippets: { key: readonly [userId: number, id: number]; row: SavedSnippetRecord };
  /** By the SHA-256 of the fragment, which may be longer than a key can be. */
  navigationViews: { key: readonly [userId: number, fragmentHash: string]; row: NavigationViewRecord };
  drafts: { key: readonly [userId: number, id: number]; row: DraftRecord };
  alertWords: { key: readonly [userId: number, foldedWord: string]; row: AlertWordRecord };
  mutedUsers: { key: readonly [userId: number, mutedUserId: number]; row: MutedUserRecord };
  realmEmoji: { key: number; row: RealmEmojiRecord };
  emailChanges: { key: string; row: EmailChangeRecord };
  /** Requests of the last day, for their limit; the newest one's link is good. */
  emailChangeRequests: { key: readonly [userId: number, requestedAt: number, keyHash: string]; row: Empty };
  mails: { key: number; row: MailRecord };
  linkifiers: { key: number; row: LinkifierRecord };
  logins: { key: readonly [userId: number, fingerprint: string]; row: LoginRecord };
}

export type Empty = Readonly<Record<string, never>>;
export type TableName = keyof Tables;
export type KeyOf<T extends TableName> = Tables[T]["key"] & Key;
export type RowOf<T extends TableName> = Tables[T]["row"];

/** The order of a row's fields on disk. Append only. */
export const rowFields: { readonly [T in TableName]: readonly (keyof RowOf<T> & string)[] } = {
  meta: ["value"],
  realm: ["id", "label", "name", "createdAt", "settings", "userDefaults"],
  users: [
    "id",
    "email",
    "fullName",
    "role",
    "isActive",
    "joinedAt",
    "timezone",
    "botType",
    "botOwnerId",
    "avatarVersion",
    "settings",
    "avatarFile",
    "canChangeUserEmails",
  ],
  credentials: ["userId", "passwordHash"],
  apiKeys: ["hash", "userId", "createdAt", "isKept"],
  groups: [
    "id",
    "name",
    "description",
    "isSystem",
    "isActive",
    "creatorId",
    "createdAt",
    "memberIds",
    "subgroupIds",
    "settings",
  ],
  groupMembers: [],
  channelFolders: ["id", "name", "description", "renderedDescription", "creatorId", "createdAt", "isArchived", "order"],
  userTopics: ["topic", "visibilityPolicy", "changedAt"],
  topicPolicies: ["visibilityPolicy"],
  channelSights: ["sincePosition"],
  channels: [
    "id",
    "recipientId",
    "name",
    "description",
    "renderedDescription",
    "creatorId",
    "createdAt",
    "isPrivate",
    "isWebPublic",
    "isHistoryPublic",
    "isDefault",
    "isArchived",
    "messageRetentionDays",
    "folderId",
    "topicsPolicy",
    "firstMessageId",
    "groups",
  ],
  subscriptions: ["userId", "channelId", "isActive", "color", "isMuted", "pinToTop", "notifications", "stays"],
  conversations: ["id", "state", "version", "channelId", "topic", "userIds", "lastMessageId", "renames", "movingId"],
  topicNames: ["id"],
  directNames: ["id"],
  directConversations: [],
  messages: [
    "id",
    "conversationId",
    "senderId",
    "sentAt",
    "content",
    "rendered",
    "client",
    "traits",
    "mentionedUserIds",
    "mentionedGroupIds",
    "editedAt",
    "moves",
  ],
  ...searchRowFields,
  messageEdits: ["userId", "at", "prevContent", "prevRendered", "moveId"],
  topicRenames: ["userId", "at", "prevTopic", "topic", "upToId"],
  messageMoves: ["userId", "at", "fromId", "prevChannelId", "channelId", "prevTopic", "topic"],
  reactions: ["emojiName", "emojiCode", "reactionType", "position"],
  conversationMessages: ["senderId", "traits"],
  channelMessages: ["conversationId", "senderId", "traits"],
  messageAttention: ["alertedUserIds", "participantIds"],
  readStates: ["upTo", "at", "newest", "hasSenderFloors"],
  readFloors: ["upTo", "at"],
  readExceptions: ["isRead", "at"],
  messageFlags: [],
  snapshots: ["version", "state", "context"],
  events: ["position", "at", "type", "audience", "body"],
  queues: ["id", "userId", "createdAt", "createdAtPosition", "lifespanMs", "client", "options"],
  mailbox: ["sequence", "command", "attempts"],
  timers: ["dueAt", "sequence", "command"],
  deadLetters: ["sequence", "command", "diedAt", "error"],
  idempotency: ["paramsHash", "status", "body", "at"],
  idempotencyAges: [],
  presence: ["userId", "activeAt", "connectedAt", "updateId"],
  bots: ["userId", "defaultSendingChannelId", "defaultEventsChannelId", "isAllPublicByDefault"],
  botServices: ["userId", "serviceName", "payloadUrl", "interfaceType", "token"],
  statuses: ["userId", "statusText", "emojiName", "emojiCode", "reactionType"],
  profileFields: [
    "id",
    "type",
    "name",
    "hint",
    "order",
    "fieldData",
    "displayInSummary",
    "isRequired",
    "isEditableByUser",
    "isUsedForMatching",
  ],
  profileValues: ["userId", "fieldId", "value", "renderedValue"],
  savedSnippets: ["id", "userId", "title", "content", "createdAt"],
  navigationViews: ["userId", "fragment", "isPinned", "name"],
  drafts: ["id", "userId", "type", "to", "topic", "content", "changedAt"],
  alertWords: ["word"],
  mutedUsers: ["mutedAt"],
  realmEmoji: ["id", "name", "authorId", "isActive", "file", "stillFile", "createdAt"],
  emailChanges: ["userId", "newEmail", "createdAt"],
  emailChangeRequests: [],
  mails: ["id", "template", "to", "data", "createdAt", "attempts", "dueAt"],
  linkifiers: ["id", "pattern", "urlTemplate", "order"],
  logins: ["seenAt"],
};

/** Counters of a realm: ids follow decisions (M4). `position` is leased ahead (E1), the others are exact. */
export const counterNames = [
  "message",
  "user",
  "channel",
  "recipient",
  "group",
  "queue",
  "sequence",
  "boot",
  "profileField",
  "savedSnippet",
  "draft",
  "emoji",
  "mail",
  "channelFolder",
  "linkifier",
  /** Milliseconds: until when it was told whose waiting period is over. */
  "waitingPeriodsEnded",
  "move",
  "readMark",
] as const;
export type CounterName = (typeof counterNames)[number];
