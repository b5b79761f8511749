/**
 * Durable shapes. A row is written as the list of its `fields` in this order (store/codec.ts), with the table's
 * version in front: fields are only ever appended, anything else needs a migration (store/migrations.ts).
 * Absent is `null`, never `undefined`. Times are milliseconds (D26). No collection that grows lives in a row.
 */
import { type AttachmentTables, attachmentRowFields } from "./records/attachments.ts";
import type {
  ConversationRecord,
  MessageEditRecord,
  MessageMoveRecord,
  MessageRecord,
  ReactionRecord,
  TopicRenameRecord,
} from "./records/conversations.ts";
import type { InvitationLinkRecord, InvitationRecord } from "./records/invites.ts";
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
  MissedMessagesRecord,
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
  ChannelRecord,
  ChannelSightRecord,
  GroupRecord,
  LinkifierRecord,
  PlaygroundRecord,
  RealmRecord,
  SubscriptionRecord,
  TopicPolicyRecord,
  UserTopicRecord,
} from "./records/places.ts";
import { type ProgramTables, programRowFields } from "./records/programs.ts";
import type {
  MessageAttentionRecord,
  MessageIndexRecord,
  ReadAnnouncementRecord,
  ReadDepartureRecord,
  ReadExceptionRecord,
  ReadFloorRecord,
  ReadStateRecord,
  ResolveNoticeRecord,
} from "./records/read-state.ts";
import type {
  DeadLetterRecord,
  EventRecord,
  IdempotencyRecord,
  MailboxRecord,
  PresenceRecord,
  QueueRecord,
  SnapshotRecord,
  TimerRecord,
  UserInputRecord,
} from "./records/runtime.ts";
import type { ReminderRecord, ScheduledMessageRecord } from "./records/scheduled.ts";
import { type SearchTables, searchRowFields } from "./records/search.ts";
import type { WebhookDeliveryRecord, WebhookReportRecord } from "./records/webhooks.ts";

export type * from "./records/attachments.ts";
export type * from "./records/conversations.ts";
export { type CounterName, counterNames } from "./records/counters.ts";
export type * from "./records/invites.ts";
export type * from "./records/people.ts";
export type * from "./records/places.ts";
export type * from "./records/programs.ts";
export type * from "./records/read-state.ts";
export type * from "./records/runtime.ts";
export type * from "./records/scheduled.ts";
export type * from "./records/search.ts";
export type * from "./records/webhooks.ts";

type Key = number | string | readonly (number | string)[];

/** Every table of a realm's environment: its key, its row, and the order of the row's fields on disk. */
export interface Tables extends SearchTables, AttachmentTables, ProgramTables {
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
  /** Who follows events came to know of a channel later than they began: by joining it, by a group, by a role, by its opening. */
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
  /** Only for messages with the trait `isResolveNotice`. */
  resolveNotices: { key: number; row: ResolveNoticeRecord };
  readStates: { key: number; row: ReadStateRecord };
  /** `kind` is one of `floorKinds`; the place is a channel, a conversation or a sender. */
  readFloors: { key: readonly [kind: number, placeId: number, userId: number]; row: ReadFloorRecord };
  readExceptions: { key: readonly [userId: number, messageId: number]; row: ReadExceptionRecord };
  /** `mark` is the number of the mark that is being told of. */
  readAnnouncements: {
    key: readonly [channelId: number, userId: number, mark: number];
    row: ReadAnnouncementRecord;
  };
  /** By the channel that the message was in; only while there is a row in `readAnnouncements` about it. */
  readDepartures: { key: readonly [channelId: number, messageId: number, mark: number]; row: ReadDepartureRecord };
  /** `flag` is one of `personalFlags`. */
  messageFlags: { key: readonly [userId: number, flag: number, messageId: number]; row: Empty };
  /** The same by message: who is told what becomes of it, and what goes with it. */
  flagHolders: { key: readonly [messageId: number, userId: number, flag: number]; row: Empty };
  snapshots: { key: string; row: SnapshotRecord };
  events: { key: number; row: EventRecord };
  queues: { key: string; row: QueueRecord };
  mailbox: { key: number; row: MailboxRecord };
  timers: { key: readonly [dueAt: number, sequence: number]; row: TimerRecord };
  deadLetters: { key: number; row: DeadLetterRecord };
  /** Mails that were given up, until an operator sends or drops them. */
  deadMails: { key: number; row: MailRecord };
  idempotency: { key: readonly [userId: number, keyHash: string]; row: IdempotencyRecord };
  idempotencyAges: { key: readonly [userId: number, at: number, keyHash: string]; row: Empty };
  presence: { key: number; row: PresenceRecord };
  /** `day`: since 1970, UTC. */
  userInputs: { key: readonly [day: number, userId: number]; row: UserInputRecord };
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
  webhookDeliveries: { key: readonly [botId: number, id: number]; row: WebhookDeliveryRecord };
  /** By bot. */
  webhookReports: { key: number; row: WebhookReportRecord };
  /** By the person who missed them. */
  missedMessages: { key: number; row: MissedMessagesRecord };
  linkifiers: { key: number; row: LinkifierRecord };
  playgrounds: { key: number; row: PlaygroundRecord };
  invitations: { key: number; row: InvitationRecord };
  /** By the SHA-256 of the key in a link (S2). */
  invitationKeys: { key: string; row: { readonly id: number } };
  invitationLinks: { key: number; row: InvitationLinkRecord };
  invitationAddresses: { key: readonly [foldedEmail: string, id: number]; row: Empty };
  /** What somebody sent within a day, for the limit. */
  invitationSends: { key: readonly [userId: number, at: number, id: number]; row: Empty };
  logins: { key: readonly [userId: number, fingerprint: string]; row: LoginRecord };
  scheduledMessages: { key: readonly [userId: number, id: number]; row: ScheduledMessageRecord };
  reminders: { key: readonly [userId: number, id: number]; row: ReminderRecord };
}

export type Empty = Readonly<Record<string, never>>;
export type TableName = keyof Tables;
export type KeyOf<T extends TableName> = Tables[T]["key"] & Key;
export type RowOf<T extends TableName> = Tables[T]["row"];

/** The order of a row's fields on disk. Append only. */
export const rowFields: { readonly [T in TableName]: readonly (keyof RowOf<T> & string)[] } = {
  meta: ["value"],
  realm: ["id", "label", "name", "createdAt", "settings", "userDefaults", "deactivatedAt"],
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
  ...attachmentRowFields,
  ...programRowFields,
  messageEdits: ["userId", "at", "prevContent", "prevRendered", "moveId", "afterMoveId"],
  topicRenames: ["userId", "at", "prevTopic", "topic", "upToId"],
  messageMoves: ["userId", "at", "fromId", "prevChannelId", "channelId", "prevTopic", "topic"],
  reactions: ["emojiName", "emojiCode", "reactionType", "position"],
  conversationMessages: ["senderId", "traits"],
  channelMessages: ["conversationId", "senderId", "traits"],
  messageAttention: ["alertedUserIds", "participantIds", "calledBotIds"],
  resolveNotices: ["unreadByIds"],
  readStates: ["upTo", "at", "newest", "hasSenderFloors"],
  readFloors: ["upTo", "at"],
  readExceptions: ["isRead", "at"],
  readAnnouncements: ["startedAt"],
  readDepartures: ["conversationId", "senderId", "traits"],
  messageFlags: [],
  flagHolders: [],
  snapshots: ["version", "state", "context"],
  events: ["position", "at", "type", "audience", "body"],
  queues: ["id", "userId", "createdAt", "createdAtPosition", "lifespanMs", "client", "options"],
  mailbox: ["sequence", "command", "attempts"],
  timers: ["dueAt", "sequence", "command"],
  deadLetters: ["sequence", "command", "diedAt", "error", "attempts", "delivery"],
  deadMails: ["id", "template", "to", "data", "createdAt", "attempts", "dueAt"],
  idempotency: ["paramsHash", "status", "body", "at"],
  idempotencyAges: [],
  presence: ["userId", "activeAt", "connectedAt", "updateId"],
  userInputs: ["reports"],
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
  webhookDeliveries: ["id", "botId", "messageId", "trigger", "createdAt", "attempts", "dueAt"],
  webhookReports: ["reportedAt", "untold"],
  missedMessages: ["messageIds", "isCut", "startedAt", "dueAt", "ringsAt", "hourStartedAt", "mailsInHour"],
  linkifiers: ["id", "pattern", "urlTemplate", "order"],
  playgrounds: ["id", "name", "language", "urlTemplate"],
  invitations: [
    "id",
    "state",
    "email",
    "inviterId",
    "createdAt",
    "expiresAt",
    "role",
    "channelIds",
    "groupIds",
    "includesDefaults",
    "notifiesInviter",
    "welcomeText",
    "keyHashes",
    "timer",
  ],
  invitationKeys: ["id"],
  invitationLinks: ["key"],
  invitationAddresses: [],
  invitationSends: [],
  logins: ["seenAt"],
  scheduledMessages: [
    "id",
    "userId",
    "channelId",
    "topic",
    "userIds",
    "content",
    "rendered",
    "siteUrl",
    "client",
    "isReadBySender",
    "dueAt",
    "timer",
  ],
  reminders: ["id", "userId", "messageId", "note", "content", "rendered", "dueAt", "timer"],
};
