/**
 * Every command, by type: what travels to an actor's mailbox. Commands are plain data (they are stored, M3), carry the
 * random values and hashes that a decision needs (M4), and name their caller, whose role is looked up in the turn.
 */

import type { Refusal } from "../schemas/errors.ts";
import type { GroupSettingName } from "../schemas/group-settings.ts";
import type { PersonalFlag, ReadFloorRecord } from "../schemas/records/read-state.ts";
import type { subscriptionNotificationNames } from "../schemas/subscriptions.ts";
import type { GroupSettingValue, Role, TopicsPolicy } from "../schemas/types.ts";
import type { ParsedContent } from "../src/domain/markdown/render.ts";
import type { FieldData, FieldDraft } from "../src/domain/profile-fields.ts";
import type { TopicPolicy } from "../src/domain/user-topics.ts";
import type { Ticket } from "./effects.ts";
import type { EmojiWish, MessageEdit, MessageMove } from "./message-commands.ts";

/** Where a command goes. One live actor per address; commands to one address keep their order (M7). */
export type Address =
  | { readonly actor: "realm" }
  | { readonly actor: "user"; readonly id: number }
  | { readonly actor: "topic"; readonly channelId: number; readonly topic: string }
  /** Participants, ascending, the sender among them. */
  | { readonly actor: "direct"; readonly userIds: readonly number[] }
  | { readonly actor: "conversation"; readonly id: number }
  /** The conversation that a message is in when the command is decided. */
  | { readonly actor: "message"; readonly id: number }
  | { readonly actor: "topic-deletion"; readonly channelId: number; readonly topic: string }
  | { readonly actor: "mail"; readonly id: number }
  | { readonly actor: "presence"; readonly userId: number }
  | { readonly actor: "typing"; readonly conversation: string };

export interface ChannelCreate {
  readonly name: string;
  readonly description: string;
  readonly renderedDescription: string;
  readonly isPrivate: boolean;
  readonly isWebPublic: boolean;
  readonly isHistoryPublic: boolean | null;
  readonly isDefault: boolean;
  readonly messageRetentionDays: number | string | null;
  readonly folderId: number | null;
  readonly topicsPolicy: TopicsPolicy;
  readonly groups: Readonly<Partial<Record<GroupSettingName, GroupSettingValue>>>;
  readonly subscriberIds: readonly number[];
  readonly announce: boolean;
  readonly isWebPublicAllowed: boolean;
}

export interface BotCreate {
  readonly email: string;
  readonly fullName: string;
  readonly botType: number;
  readonly apiKeyHash: string;
  /** null: it posts nowhere. The token is random, and comes with the command (M4). */
  readonly service: {
    readonly name: string;
    readonly payloadUrl: string;
    readonly interfaceType: number;
    readonly token: string;
  } | null;
  /** Names of channels; null: none. */
  readonly defaultSendingChannel: string | null;
  readonly defaultEventsChannel: string | null;
  readonly isAllPublicByDefault: boolean;
}

/** null: not sent, stays as it is. An empty channel name is none. */
export interface BotUpdate {
  readonly botId: number;
  readonly fullName: string | null;
  readonly role: number | null;
  readonly ownerId: number | null;
  readonly payloadUrl: string | null;
  readonly interfaceType: number | null;
  readonly defaultSendingChannel: string | null;
  readonly defaultEventsChannel: string | null;
  readonly isAllPublicByDefault: boolean | null;
}

export interface ProfileFieldDraft extends FieldDraft {
  readonly isRequired: boolean;
  readonly isEditableByUser: boolean;
}

/** null: not sent, stays as it is. */
export interface ProfileFieldUpdate {
  readonly fieldId: number;
  readonly name: string | null;
  readonly hint: string | null;
  readonly fieldData: FieldData | null;
  readonly displayInSummary: boolean | null;
  readonly isRequired: boolean | null;
  readonly isEditableByUser: boolean | null;
}

/** A value of a person's profile; null, "" and [] remove it. */
export interface ProfileValueChange {
  readonly id: number;
  readonly value: string | readonly number[] | null;
  /** The text's Markdown, for fields that render it. */
  readonly parsed: ParsedContent | null;
}

export interface SubscribeRequest {
  readonly channels: readonly {
    readonly name: string;
    readonly description: string | null;
    readonly renderedDescription: string;
    readonly color: string | null;
  }[];
  /** null: the caller. */
  readonly principals: readonly (number | string)[] | null;
  readonly areErrorsFatal: boolean;
  /** Others who are newly subscribed are told by a direct message. */
  readonly tellsOthers: boolean;
  /** Settings for channels that do not exist yet. */
  readonly template: Omit<ChannelCreate, "name" | "description" | "renderedDescription" | "subscriberIds">;
}

/** Joins the first and leaves the second. */
export interface SubscriptionsUpdate {
  readonly add: SubscribeRequest;
  readonly removeNames: readonly string[];
}

/** What is left of a large change of members; `waiting` names the request that is answered when it is done. */
export interface MembershipChange {
  readonly targets: readonly {
    readonly kind: "join" | "leave";
    readonly channelId: number;
    readonly userIds: readonly number[];
    readonly color: string | null;
  }[];
  readonly waiting: {
    readonly ticket: Ticket;
    readonly boot: number;
    readonly answer: Readonly<Record<string, unknown>>;
  } | null;
  /** Told when it is done. */
  readonly after: readonly Command[];
}

/** One setting of a person's for a channel (spec 2.3, public API update-subscription-settings). */
export type SubscriptionSetting =
  | { readonly channelId: number; readonly property: "color"; readonly value: string }
  | {
      readonly channelId: number;
      readonly property: "is_muted" | "pin_to_top" | (typeof subscriptionNotificationNames)[number];
      readonly value: boolean;
    };

/** One person's policy for one topic; a channel by its id or name. */
export interface UserTopicChange {
  readonly channel: number | string;
  readonly topic: string;
  readonly policy: TopicPolicy;
  /** What is answered where the channel is none that the caller may know. */
  readonly unknown: Refusal;
}

interface TopicPlace {
  readonly channelId: number;
  readonly topic: string;
}

/** What is left to carry of people's policies for a topic that moves as a whole. */
export interface TopicMove {
  readonly from: TopicPlace;
  readonly to: TopicPlace;
  /** The target had messages. */
  readonly isMerge: boolean;
  /** Whose policies are looked at: first those for the target, then those for the source. */
  readonly phase: "target" | "source";
  readonly afterUserId: number;
}

/** A folder's description within its bounds, with its Markdown. */
export interface FolderDescription {
  readonly text: string;
  readonly parsed: ParsedContent;
}

/** A request to PATCH /settings, looked at; null leaves a thing as it is. */
export interface SettingsChange {
  /** Values of rows of `userSettings`. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly fullName: string | null;
  /** `formerHash` is what the former password was verified against; null: it was wrong. */
  readonly password: { readonly formerHash: string | null; readonly hash: string } | null;
}

export interface QueueRegistration {
  readonly queueId: string;
  readonly lifespanMs: number;
  readonly client: string;
  readonly options: Readonly<Record<string, unknown>>;
}

export interface MessagePost {
  readonly content: string;
  readonly parsed: ParsedContent;
  readonly client: string;
  /** Echo for the sending client: only its own queue sees it. */
  readonly queueId: string | null;
  readonly localId: string | null;
  readonly isReadBySender: boolean;
  /** By whose sight channels are linked where the bot speaks for somebody; without it, by the sender's. */
  readonly mentionsAs?: number;
  /** A notice that a topic was resolved or unresolved: whoever changes their mind at once takes it away again. */
  readonly isResolveNotice?: true;
}

/** Where somebody logs in from; `fingerprint` is a hash of program and coarse place. */
export interface Login {
  readonly fingerprint: string;
  readonly client: string;
  readonly address: string;
}

/** null: not passed, so it stays (spec 4.12). */
export interface StatusChange {
  readonly text: string | null;
  readonly emojiName: string | null;
  readonly emojiCode: string | null;
  readonly reactionType: string | null;
  readonly away: boolean | null;
  /** The caller's own; else an administrator's change of somebody else's (spec 4.11). */
  readonly isOwn: boolean;
}

/** A draft whose texts are within their bounds. */
export interface DraftContent {
  /** "" has no address. */
  readonly type: "" | "channel" | "direct";
  /** One channel, or people, each once. */
  readonly to: readonly number[];
  readonly topic: string;
  readonly content: string;
  /** Milliseconds; null: the turn's time. */
  readonly changedAt: number | null;
}

export type TypingTarget =
  | { readonly kind: "direct"; readonly userIds: readonly number[] }
  | { readonly kind: "channel"; readonly channelId: number; readonly topic: string };

export interface TopicDeletionRequest {
  readonly deadline: number;
}

/** Whose account: by id, or by an address as the caller knows it, on the host that the caller calls this server (spec 4.8). */
export type UserTarget = { readonly id: number } | { readonly address: string; readonly host: string };

/** Spec 4.8; null leaves as it is. */
export interface UserUpdate {
  readonly target: UserTarget;
  readonly fullName: string | null;
  /** Any number: which are roles is decided with the rest (D11). */
  readonly role: number | null;
  readonly profileData: readonly ProfileValueChange[];
  readonly newEmail: string | null;
}

export interface UserDeactivation {
  readonly userId: number;
  /** null: no mail; "": a mail without a text of the caller's (spec 4.20). */
  readonly comment: string | null;
}

/** Flags on messages (behaviour 5.2). */
export interface FlagUpdate {
  readonly op: "add" | "remove";
  readonly flag: "read" | PersonalFlag;
  readonly messageIds: readonly number[];
  /** Whether one message that cannot be read refuses all; else it is left out. */
  readonly mustReachAll: boolean;
  /** What is answered, beside what comes of it. */
  readonly answer: Readonly<Record<string, unknown>>;
  readonly countsUpdated: boolean;
}

/** What is left to tell of a mark: see actors/user/read-state.ts. */
export interface ReadAnnouncement {
  readonly place: { readonly channelId: number; readonly conversationId: number | null };
  /** The place's floor before the mark; null: it had none. */
  readonly before: ReadFloorRecord | null;
  /** The mark was that the channel was left. */
  readonly hasLeft: boolean;
  /** The next message to look at. */
  readonly from: number;
  /** Up to here only exceptions were unread. */
  readonly start: number;
  readonly upTo: number;
}

/** What each type of command carries. */
export interface CommandParams {
  "realm.found": {
    readonly label: string;
    readonly name: string;
    readonly ownerEmail: string;
    readonly ownerFullName: string;
    readonly passwordHash: string;
    readonly apiKeyHash: string;
  };
  "user.create": {
    readonly email: string;
    readonly fullName: string;
    readonly passwordHash: string;
    readonly role: Role;
  };
  "user.change-settings": SettingsChange;
  "realm.change-settings-defaults": { readonly settings: Readonly<Record<string, unknown>> };
  "user.update": UserUpdate;
  "user.deactivate": UserDeactivation;
  "user.deactivate-self": Record<string, never>;
  "user.reactivate": { readonly userId: number };
  "user.grant-email-changes": { readonly email: string; readonly isGranted: boolean };
  "bot.create": BotCreate;
  "bot.update": BotUpdate;
  "bot.deactivate": { readonly botId: number };
  "bot.regenerate-key": { readonly botId: number; readonly apiKeyHash: string };
  "profile-field.create": ProfileFieldDraft;
  "profile-field.update": ProfileFieldUpdate;
  "profile-field.reorder": { readonly order: readonly number[] };
  "profile-field.delete": { readonly fieldId: number };
  "profile-values.sweep": { readonly fieldId: number; readonly afterUserId: number };
  "profile-data.set": { readonly data: readonly ProfileValueChange[] };
  "channel.create": ChannelCreate;
  "channel-folder.create": { readonly name: string; readonly description: FolderDescription };
  /** null: not passed, so it stays. */
  "channel-folder.update": {
    readonly folderId: number;
    readonly name: string | null;
    readonly description: FolderDescription | null;
    readonly isArchived: boolean | null;
  };
  "channel-folder.reorder": { readonly order: readonly number[] };
  "members.change": MembershipChange;
  "subscriptions.add": SubscribeRequest;
  "subscriptions.remove": {
    readonly channelNames: readonly string[];
    readonly principals: readonly (number | string)[] | null;
  };
  "subscriptions.update": SubscriptionsUpdate;
  "subscription-settings.change": { readonly changes: readonly SubscriptionSetting[] };
  "default-channels.set": { readonly channelId: number; readonly isDefault: boolean };
  "user-topics.set": UserTopicChange;
  "user-topics.move": TopicMove;
  /** `isMove`: clients saw no message come that would be the first. */
  "channel.find-first-message": { readonly channelId: number; readonly isMove?: true };
  "presence.persist": { readonly rows: readonly unknown[] };
  /** `login`: the key is for somebody who logs in just now. */
  "user.api-key.add": { readonly hash: string; readonly login?: Login };
  "user.email-change.request": { readonly newEmail: string; readonly keyHash: string; readonly link: string };
  "user.email-change.expire": { readonly keyHash: string; readonly requestedAt: number };
  "user.email-change.confirm": { readonly keyHash: string };
  "mail.sent": Record<string, never>;
  /** `reason` names codes only, never content (S2). */
  "mail.failed": { readonly isPermanent: boolean; readonly reason: string };
  "mail.due": Record<string, never>;
  /** `file` as in the row (schemas/files.ts), without the realm's id; null: the picture made from the address. */
  "user.avatar.set": { readonly file: string | null };
  "emoji.add": { readonly name: string; readonly file: string; readonly stillFile: string | null };
  "emoji.deactivate": { readonly name: string };
  "status.update": StatusChange;
  "navigation-views.add": {
    readonly fragment: string;
    readonly isPinned: boolean;
    /** null: not passed. */
    readonly name: string | null;
  };
  /** null: not passed, so it stays. */
  "navigation-views.update": {
    readonly fragment: string;
    readonly isPinned: boolean | null;
    readonly name: string | null;
  };
  "navigation-views.remove": { readonly fragment: string };
  "saved-snippets.add": { readonly title: string; readonly content: string };
  /** null: not passed, so it stays. */
  "saved-snippets.update": { readonly id: number; readonly title: string | null; readonly content: string | null };
  "saved-snippets.remove": { readonly id: number };
  "drafts.add": { readonly drafts: readonly DraftContent[] };
  "drafts.update": { readonly id: number; readonly draft: DraftContent };
  "drafts.remove": { readonly id: number };
  "alert-words.add": { readonly words: readonly string[] };
  "alert-words.remove": { readonly words: readonly string[] };
  "muted-users.add": { readonly userId: number };
  "muted-users.remove": { readonly userId: number };
  "user.api-key.regenerate": { readonly hash: string };
  "queue.register": QueueRegistration;
  "queue.delete": { readonly queueId: string };
  "message.post": MessagePost;
  "message.edit": MessageEdit;
  "message.delete": Record<string, never>;
  "reaction.add": EmojiWish & { readonly name: string };
  "reaction.remove": EmojiWish;
  /** Messages that come to the conversation from another one, in batches. */
  "messages.take-in": MessageMove;
  /** The conversation's new name, told for the next messages of it. */
  "topic.tell-rename": MessageMove;
  /** After everything else that the move brings about: then its request is answered. */
  "topic.move-ended": Pick<MessageMove, "moveId" | "waiting">;
  "message-flags.update": FlagUpdate;
  "message-flags.continue": FlagUpdate & {
    readonly progress: {
      readonly waiting: { readonly ticket: Ticket; readonly boot: number } | null;
      readonly updated: number;
      readonly ignoredChannelIds: readonly number[];
    };
  };
  "read-state.mark-all": Record<string, never>;
  "read-state.mark-channel": { readonly channelId: number };
  "read-state.mark-topic": {
    readonly channelId: number;
    readonly topic: string;
    readonly mustHaveReceived: boolean;
  };
  "read-state.announce": ReadAnnouncement;
  "read-state.announce-muted": { readonly senderId: number; readonly before: ReadFloorRecord | null };
  "read-state.sweep": { readonly from: number; readonly upTo: number; readonly at: number };
  "topic.recount": Record<string, never>;
  "topic-deletion.request": TopicDeletionRequest;
  "topic-deletion.continue": Record<string, never>;
  "topic-deletion.abandon": Record<string, never>;
  "presence.report": { readonly status: "active" | "idle" };
  "presence.lapse": Record<string, never>;
  "presence.share": { readonly isShared: boolean };
  "typing.start": { readonly target: TypingTarget };
  "typing.stop": { readonly target: TypingTarget };
  "typing.expire": { readonly userId: number; readonly target: TypingTarget };
}

export type CommandType = keyof CommandParams;

export interface Command<T extends CommandType = CommandType> {
  readonly to: Address;
  readonly type: T;
  readonly params: CommandParams[T];
  /** Who asks; null is the server itself. */
  readonly callerId: number | null;
  /** Set by the runtime when somebody waits for the answer. */
  readonly ticket: Ticket | null;
}

/** Builds a command; `ticket` is the runtime's. */
export function command<T extends CommandType>(
  to: Address,
  type: T,
  params: CommandParams[T],
  callerId: number | null,
): Command<T> {
  return { to, type, params, callerId, ticket: null };
}
