/**
 * Every command, by type: what travels to an actor's mailbox. Commands are plain data (they are stored, M3), carry the
 * random values and hashes that a decision needs (M4), and name their caller, whose role is looked up in the turn.
 */

import type { RealmGroupSettingName } from "../schemas/group-settings.ts";
import type { ReportType } from "../schemas/message-reports.ts";
import type { AttachmentRecord } from "../schemas/records.ts";
import type { GroupSettingChange, Role } from "../schemas/types.ts";
import type { WebhookFailure } from "../schemas/webhooks.ts";
import type { ParsedContent } from "../src/domain/markdown/render.ts";
import type {
  ChannelCreate,
  ChannelUpdate,
  FolderDescription,
  InactivityLook,
  MembershipChange,
  SubscribeRequest,
  SubscriptionSetting,
  SubscriptionsUpdate,
  TopicEnd,
  TopicMove,
  UserTopicChange,
} from "./commands/channels.ts";
import type { InvitesCommandParams } from "./commands/invites.ts";
import type { EmojiWish, MessageEdit, MessageMove } from "./commands/messages.ts";
import type { MissedMessageParams } from "./commands/missed-messages.ts";
import type {
  BotCreate,
  BotUpdate,
  DraftContent,
  Login,
  ProfileFieldDraft,
  ProfileFieldUpdate,
  ProfileValueChange,
  SettingsChange,
  StatusChange,
  UserDeactivation,
  UserUpdate,
} from "./commands/people.ts";
import type { ProgramCommandParams } from "./commands/programs.ts";
import type { ReadCommandParams } from "./commands/read-state.ts";
import type { ScheduledCommandParams } from "./commands/scheduled.ts";
import type { GroupCreate, GroupMembersChange, GroupMembersRest, GroupUpdate } from "./commands/user-groups.ts";
import type { Ticket } from "./effects.ts";

export type * from "./commands/channels.ts";
export type * from "./commands/people.ts";

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
  | { readonly actor: "retention" }
  | { readonly actor: "mail"; readonly id: number }
  | { readonly actor: "invitation"; readonly id: number }
  | { readonly actor: "webhook"; readonly botId: number; readonly id: number }
  | { readonly actor: "presence"; readonly userId: number }
  | { readonly actor: "typing"; readonly conversation: string };

/** A linkifier as a request describes it. */
export interface LinkifierDraft {
  readonly pattern: string;
  readonly urlTemplate: string;
}

/** A code playground as a request describes it. */
export interface PlaygroundDraft {
  readonly name: string;
  readonly language: string;
  readonly urlTemplate: string;
}

/** A request to PATCH /realm: values as they are stored, and changes of who holds permissions. */
export interface RealmChange {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly groups: Readonly<Partial<Record<RealmGroupSettingName, GroupSettingChange>>>;
  /** Server switch of spec 4.3 (D6). */
  readonly isWebPublicAllowed: boolean;
}

/** null: no bound. */
export interface UploadQuotas {
  readonly realmQuotaBytes: number | null;
  readonly personQuotaBytes: number | null;
}

export interface QueueRegistration {
  readonly queueId: string;
  readonly lifespanMs: number;
  readonly client: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** The person's queues when the request came, the one that was unread longest first; those that somebody reads come last. */
  readonly others: OtherQueues;
}

/** Ids of queues. One in neither list was registered since. */
export interface OtherQueues {
  readonly unread: readonly string[];
  readonly connected: readonly string[];
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
  /** For whom such a notice is unread; without it, for everybody. */
  readonly unreadByIds?: readonly number[];
  /** Who knows what the bot says, because they did it: for them it is read (behaviour 2.3 e). */
  readonly readById?: number;
  /** The message that called an outgoing webhook, whose answer this is: if it is refused, the bot's owner is told. */
  readonly answersMessageId?: number;
}

/** What a webhook's receiver wants its bot to say. */
export type WebhookReply = Pick<MessagePost, "content" | "parsed">;

export type TypingTarget =
  | { readonly kind: "direct"; readonly userIds: readonly number[] }
  | { readonly kind: "channel"; readonly channelId: number; readonly topic: string }
  /** In the edit of a message. */
  | { readonly kind: "edit"; readonly messageId: number };

export interface TopicDeletionRequest {
  readonly deadline: number;
}

/** What each type of command carries. */
export interface CommandParams
  extends ReadCommandParams,
    ScheduledCommandParams,
    InvitesCommandParams,
    ProgramCommandParams,
    MissedMessageParams {
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
  "realm.change-settings": RealmChange;
  "realm.end-waiting-periods": Record<string, never>;
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
  "linkifier.add": LinkifierDraft;
  "linkifier.update": LinkifierDraft & { readonly id: number };
  "linkifier.remove": { readonly id: number };
  "linkifier.reorder": { readonly order: readonly number[] };
  "playground.add": PlaygroundDraft;
  "playground.remove": { readonly id: number };
  "group.create": GroupCreate;
  "group.update": GroupUpdate;
  "group.deactivate": { readonly groupId: number };
  "group.change-members": GroupMembersChange;
  "group-members.continue": GroupMembersRest;
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
  "channel.update": ChannelUpdate;
  "channels.tell-inactive": InactivityLook;
  "channel.archive": { readonly channelId: number };
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
  "user-topics.end": TopicEnd;
  /** `isMove`: clients saw no message come that would be the first. */
  "channel.find-first-message": { readonly channelId: number };
  "presence.persist": { readonly rows: readonly unknown[] };
  /** `day`: since 1970, UTC. */
  "inputs.persist": {
    readonly counts: readonly { readonly day: number; readonly userId: number; readonly reports: number }[];
  };
  /**
   * `login`: the key is for somebody who logs in just now. `passwordHash`: what the password was verified against; without it, none
   * was asked for.
   */
  "user.api-key.add": { readonly hash: string; readonly login?: Login; readonly passwordHash?: string | null };
  "user.email-change.request": { readonly newEmail: string; readonly keyHash: string; readonly link: string };
  "user.email-change.expire": { readonly keyHash: string; readonly requestedAt: number };
  "user.email-change.confirm": { readonly keyHash: string };
  "mail.sent": Record<string, never>;
  /** `reason` names codes only, never content (S2). */
  "mail.failed": { readonly isPermanent: boolean; readonly reason: string };
  "mail.due": Record<string, never>;
  /** `isTaken`: somebody has it. */
  "mail.abandon": { readonly isTaken: boolean };
  /** null: nothing is to be said. */
  "webhook.answered": { readonly reply: WebhookReply | null };
  /** `status` of the answer; 0: there was none. */
  "webhook.failed": { readonly failure: WebhookFailure; readonly status: number };
  "webhook.due": Record<string, never>;
  /** `isTaken`: the receiver has answered. */
  "webhook.abandon": { readonly isTaken: boolean };
  /** `file` as in the row (schemas/files.ts), without the realm's id; null: the picture made from the address. */
  "user.avatar.set": { readonly file: string | null };
  /** The file is on disk under its name (schemas/files.ts). `quotaBytes`: for all files of the organization; null: none. */
  "attachment.add": Pick<AttachmentRecord, "file" | "name" | "size" | "image" | "sha256"> & UploadQuotas;
  "attachment.remove": { readonly attachmentId: number };
  "attachment.expire": { readonly attachmentId: number; readonly unclaimedSince: number };
  "attachments.recount": { readonly attachmentIds: readonly number[] };
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
  "message.report": { readonly reportType: ReportType; readonly description: string };
  "reaction.add": EmojiWish & { readonly name: string };
  "reaction.remove": EmojiWish;
  /** Messages that come to the conversation from another one, in batches. */
  "messages.take-in": MessageMove;
  /** The conversation's new name, told for the next messages of it. */
  "topic.tell-rename": MessageMove;
  /** After everything else that the move brings about: then its request is answered. */
  "topic.move-ended": Pick<MessageMove, "moveId" | "waiting" | "detachedUploads">;
  "topic.recount": Record<string, never>;
  "topic-deletion.request": TopicDeletionRequest;
  "topic-deletion.continue": Record<string, never>;
  "topic-deletion.abandon": Record<string, never>;
  "retention.look": Record<string, never>;
  "retention.due": { readonly dueAt: number };
  "retention.sweep": Record<string, never>;
  "retention.abandon": Record<string, never>;
  "retention.confirm": Record<string, never>;
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
