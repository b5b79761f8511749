/**
 * Durable shapes. A row is written as the list of its `fields` in this order (store/codec.ts), with the table's
 * version in front: fields are only ever appended, anything else needs a migration (store/migrations.ts).
 * Absent is `null`, never `undefined`. Times are milliseconds (D26). No collection that grows lives in a row.
 */
import type { GroupSettingName } from "./group-settings.ts";
import type { Role, TopicsPolicy } from "./types.ts";

/** What an organization is (spec 1). Values of realm settings that were never set are absent: see settings.ts. */
export interface RealmRecord {
  readonly id: number;
  /** First label of its host; "" for the default realm (D34). */
  readonly label: string;
  readonly name: string;
  readonly createdAt: number;
  readonly settings: Readonly<Record<string, unknown>>;
}

export interface UserRecord {
  readonly id: number;
  /** The real address, as given. Compared case-insensitively. */
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  readonly isActive: boolean;
  readonly joinedAt: number;
  readonly timezone: string;
  /** null for people; 1 generic, 2 incoming webhook, 3 outgoing webhook, 4 embedded. */
  readonly botType: number | null;
  readonly botOwnerId: number | null;
  /** Bumped when the avatar changes; the URL carries it. */
  readonly avatarVersion: number;
  /** Only what differs from the defaults (spec 2.3). */
  readonly settings: Readonly<Record<string, unknown>>;
}

export interface CredentialRecord {
  readonly userId: number;
  /** Argon2id in PHC form (S2). */
  readonly passwordHash: string;
}

/** Keyed by the SHA-256 of the key (S2). */
export interface ApiKeyRecord {
  readonly hash: string;
  readonly userId: number;
  readonly createdAt: number;
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
  readonly memberIds: readonly number[];
  readonly subgroupIds: readonly number[];
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
}

export interface ReactionRecord {
  readonly emojiName: string;
  readonly emojiCode: string;
  readonly reactionType: string;
  readonly userId: number;
}

export interface MessageRecord {
  readonly id: number;
  readonly conversationId: number;
  readonly senderId: number;
  readonly sentAt: number;
  readonly content: string;
  readonly rendered: string;
  readonly client: string;
  /** Bit set of `messageTraits` (schemas/messages.ts). */
  readonly traits: number;
  readonly mentionedUserIds: readonly number[];
  readonly mentionedGroupIds: readonly number[];
}

/** Who receives an event; resolved against projections at delivery and again at replay (realtime.md, Who gets what). */
export type Audience =
  | { readonly to: "realm" }
  | { readonly to: "users"; readonly ids: readonly number[] }
  /**
   * Subscribers of the channel at that position, for public channels also queues with all_public_streams, and the people
   * of `also`, whom it concerns though they are not subscribed.
   */
  | { readonly to: "channel"; readonly id: number; readonly also: readonly number[] }
  /** Whoever may know that the channel exists, less `except`. */
  | { readonly to: "channel-watchers"; readonly id: number; readonly except: readonly number[] };

export interface EventRecord {
  /** The last of the positions that it took. */
  readonly position: number;
  readonly at: number;
  readonly type: string;
  readonly audience: Audience;
  /** References and own fields; what is sent is built from it by realtime/event-bodies.ts. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface QueueRecord {
  readonly id: string;
  readonly userId: number;
  readonly createdAt: number;
  readonly createdAtPosition: number;
  readonly lifespanMs: number;
  readonly client: string;
  /** The parameters that shape its events: see realtime/queue.ts. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** A command that was accepted and not finished in its turn (M3). `attempts` counts throws (M6). */
export interface MailboxRecord {
  readonly sequence: number;
  readonly command: unknown;
  readonly attempts: number;
}

export interface TimerRecord {
  readonly dueAt: number;
  readonly sequence: number;
  readonly command: unknown;
}

export interface DeadLetterRecord {
  readonly sequence: number;
  readonly command: unknown;
  readonly diedAt: number;
  readonly error: string;
}

/** The kept first answer of an Idempotency-Key (D25). */
export interface IdempotencyRecord {
  readonly paramsHash: string;
  readonly status: number;
  readonly body: string;
  readonly at: number;
}

export interface PresenceRecord {
  readonly userId: number;
  readonly activeAt: number | null;
  readonly connectedAt: number;
  readonly updateId: number;
}

type Key = number | string | readonly (number | string)[];

/** Every table of a realm's environment: its key, its row, and the order of the row's fields on disk. */
export interface Tables {
  meta: { key: string; row: { readonly value: unknown } };
  realm: { key: string; row: RealmRecord };
  users: { key: number; row: UserRecord };
  credentials: { key: number; row: CredentialRecord };
  apiKeys: { key: string; row: ApiKeyRecord };
  groups: { key: number; row: GroupRecord };
  channels: { key: number; row: ChannelRecord };
  subscriptions: { key: readonly [userId: number, channelId: number]; row: SubscriptionRecord };
  conversations: { key: number; row: ConversationRecord };
  topicNames: { key: readonly [channelId: number, foldedTopic: string]; row: { readonly id: number } };
  directNames: { key: string; row: { readonly id: number } };
  directConversations: { key: readonly [userId: number, conversationId: number]; row: Empty };
  messages: { key: number; row: MessageRecord };
  conversationMessages: { key: readonly [conversationId: number, messageId: number]; row: Empty };
  channelMessages: {
    key: readonly [channelId: number, messageId: number];
    row: { readonly conversationId: number };
  };
  snapshots: { key: string; row: SnapshotRecord };
  events: { key: number; row: EventRecord };
  queues: { key: string; row: QueueRecord };
  mailbox: { key: number; row: MailboxRecord };
  timers: { key: readonly [dueAt: number, sequence: number]; row: TimerRecord };
  deadLetters: { key: number; row: DeadLetterRecord };
  idempotency: { key: readonly [userId: number, keyHash: string]; row: IdempotencyRecord };
  idempotencyAges: { key: readonly [userId: number, at: number, keyHash: string]; row: Empty };
  presence: { key: number; row: PresenceRecord };
}

export type Empty = Readonly<Record<string, never>>;
export type TableName = keyof Tables;
export type KeyOf<T extends TableName> = Tables[T]["key"] & Key;
export type RowOf<T extends TableName> = Tables[T]["row"];

/** The order of a row's fields on disk. Append only. */
export const rowFields: { readonly [T in TableName]: readonly (keyof RowOf<T> & string)[] } = {
  meta: ["value"],
  realm: ["id", "label", "name", "createdAt", "settings"],
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
  ],
  credentials: ["userId", "passwordHash"],
  apiKeys: ["hash", "userId", "createdAt"],
  groups: ["id", "name", "description", "isSystem", "isActive", "creatorId", "createdAt", "memberIds", "subgroupIds"],
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
  conversations: ["id", "state", "version", "channelId", "topic", "userIds", "lastMessageId"],
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
  ],
  conversationMessages: [],
  channelMessages: ["conversationId"],
  snapshots: ["version", "state", "context"],
  events: ["position", "at", "type", "audience", "body"],
  queues: ["id", "userId", "createdAt", "createdAtPosition", "lifespanMs", "client", "options"],
  mailbox: ["sequence", "command", "attempts"],
  timers: ["dueAt", "sequence", "command"],
  deadLetters: ["sequence", "command", "diedAt", "error"],
  idempotency: ["paramsHash", "status", "body", "at"],
  idempotencyAges: [],
  presence: ["userId", "activeAt", "connectedAt", "updateId"],
};

/** Counters of a realm: ids follow decisions (M4). `position` is leased ahead (E1), the others are exact. */
export const counterNames = ["message", "user", "channel", "recipient", "group", "queue", "sequence", "boot"] as const;
export type CounterName = (typeof counterNames)[number];
