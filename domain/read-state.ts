/**
 * A user's read state (behaviour 8). A message is unread if the user received it, did not write it, and no watermark
 * covers it; exceptions override this for single messages. Leaving a channel marks its messages as read: only
 * subscribed channels have unread messages.
 */

import { botTypes } from "../schemas/bots.ts";
import type { ChannelId, ConversationId, MessageId, UserId } from "../schemas/ids.ts";
import { hasTrait } from "../schemas/message-traits.ts";
import type { ConversationRecord, MessageRecord } from "../schemas/messages.ts";
import {
  type ReadExceptionRecord,
  type ReadStateRecord,
  type ReadWatermarkRecord,
  type Seen,
  type WatermarkKind,
  type WatermarkOverride,
  type WatermarkScope,
  watermarkKinds,
} from "../schemas/read-state.ts";
import type { UserRecord } from "../schemas/users.ts";
import { hasReceived } from "./permissions.ts";
import type { View } from "./view.ts";

/** The conversation of a message. */
export type ConversationRef = Pick<ConversationRecord, "id" | "channelId" | "userIds">;

/** Overrides watermarks with their state before a decision, or after it; null means none. Others are as stored. */
export interface ReadStateOverrides {
  readonly watermarks?: readonly WatermarkOverride[];
  /** Treats a channel as if the user had not left it. */
  readonly remainsIn?: number;
  /** Ignores conversation watermarks with this mark or a later one. */
  readonly conversationWatermarksBefore?: number;
  /** Ignores sender watermarks with this mark or a later one. */
  readonly senderWatermarksBefore?: number;
  /** Ignores read exceptions of single messages with this mark or a later one. */
  readonly readExceptionsBefore?: number;
}

/** The state of a user who has not marked anything yet. */
export const nothingMarked: ReadStateRecord = { upTo: 0, at: 0, newest: 0, hasSenderWatermarks: false };

/** Whether the user has read a message. Messages that they did not receive count as read. */
export function isRead(view: View, message: MessageRecord, state: ReadState): boolean {
  const conversation = view.row("conversations", message.conversationId);
  return conversation === undefined || state.isRead(message, conversation);
}

/**
 * Whether the reader was subscribed when the message arrived, or is a bot that it mentioned; direct messages are always
 * received.
 */
export function isReceived(view: View, reader: UserRecord, message: MessageRecord): boolean {
  const conversation = view.row("conversations", message.conversationId);
  if (conversation === undefined) return false;
  return (
    isReceivedIn(view, reader.id, message.id, conversation) ||
    (reader.botType === botTypes.generic && mentionedBotsOf(view, message).includes(reader.id))
  );
}

/** Bots outside the channel that received a message because it mentioned them (schemas/read-state.ts). */
export function mentionedBotsOf(view: View, { id, traits }: Pick<MessageRecord, "id" | "traits">): readonly number[] {
  if (!hasTrait(traits, "hasAlerts")) return [];
  return view.row("messageAlerts", id)?.mentionedBotIds ?? [];
}

function isReceivedIn(view: View, userId: UserId, messageId: MessageId, conversation: ConversationRef): boolean {
  if (conversation.userIds !== null) return conversation.userIds.includes(userId);
  const subscription = view.subscriptions.get(userId, conversation.channelId ?? 0);
  return subscription !== undefined && hasReceived(subscription.periods, messageId);
}

/** Own messages are read, unless the sending client said otherwise (public API: read_by_sender). */
export function isOwnRead(userId: UserId, message: Seen): boolean {
  return message.senderId === userId && !hasTrait(message.traits, "isUnreadBySender");
}

/** A user's read state at one moment, for many messages: watermarks are looked up once. */
export class ReadState {
  /** The stored summary. */
  readonly marks: ReadStateRecord;
  readonly #view: View;
  readonly #userId: UserId;
  readonly #remainsIn: number | null;
  readonly #conversationWatermarksBefore: number;
  readonly #senderWatermarksBefore: number;
  readonly #readExceptionsBefore: number;
  /** Created on first use: messages newer than all marks do not need it. */
  #watermarks: Map<string, ReadWatermarkRecord | null> | null = null;
  /** No row names a newer message. */
  readonly #newest: number;
  /** All exceptions of the user, if they were loaded at once. */
  #exceptions: ReadonlyMap<number, ReadExceptionRecord> | null = null;

  constructor(view: View, userId: UserId, overrides: ReadStateOverrides = {}) {
    this.#view = view;
    this.#userId = userId;
    this.#remainsIn = overrides.remainsIn ?? null;
    this.#conversationWatermarksBefore = overrides.conversationWatermarksBefore ?? Number.MAX_SAFE_INTEGER;
    this.#senderWatermarksBefore = overrides.senderWatermarksBefore ?? Number.MAX_SAFE_INTEGER;
    this.#readExceptionsBefore = overrides.readExceptionsBefore ?? Number.MAX_SAFE_INTEGER;
    this.marks = view.row("readStates", userId) ?? nothingMarked;
    let { newest } = this.marks;
    for (const { place, watermark } of overrides.watermarks ?? []) {
      this.#remember(nameOf(place), watermark);
      newest = Math.max(newest, watermark?.upTo ?? 0);
    }
    this.#newest = newest;
  }

  /** From now on uses these exceptions instead of single lookups. */
  useExceptions(exceptions: ReadonlyMap<number, ReadExceptionRecord>): void {
    this.#exceptions = exceptions;
  }

  isRead(message: Seen, conversation: ConversationRef): boolean {
    if (!this.holdsUnread(conversation)) return true;
    const isReadByRule = this.#isReadByRule(message, conversation);
    // For a message newer than every mark only the rules apply, and the sender's watermark.
    if (message.id > this.#newest) return isReadByRule || this.#isBehindSender(message, never);
    const exception = this.exception(message.id);
    if (exception?.isRead === true || (exception === undefined && isReadByRule)) return true;
    return this.#isCovered(message, conversation, exception?.at ?? never);
  }

  /** Whether rules and watermarks alone make it read, so that an exception saying the same is not needed. */
  isReadAnyway(message: Seen, conversation: ConversationRef): boolean {
    return (
      !this.holdsUnread(conversation) ||
      this.#isReadByRule(message, conversation) ||
      this.#isCovered(message, conversation, never)
    );
  }

  #isReadByRule(message: Seen, conversation: ConversationRef): boolean {
    return (
      isOwnRead(this.#userId, message) ||
      hasTrait(message.traits, "changedChannel") ||
      this.#isQuietNotice(message) ||
      !isReceivedIn(this.#view, this.#userId, message.id, conversation)
    );
  }

  /**
   * The notice of a resolved topic, for users to whom it counted as read from the beginning (spec 2.3,
   * resolved_topic_notice_auto_read_policy).
   */
  #isQuietNotice({ id, traits }: Seen): boolean {
    if (!hasTrait(traits, "isResolveNotice")) return false;
    return this.#view.row("resolveNotices", id)?.unreadByIds.includes(this.#userId) === false;
  }

  /** Whether the conversation can have unread messages for the user at all. */
  holdsUnread({ userIds, channelId }: ConversationRef): boolean {
    if (userIds !== null) return userIds.includes(this.#userId);
    if (channelId === null || channelId === this.#remainsIn) return channelId !== null;
    return this.#view.subscriptions.get(this.#userId, channelId)?.isActive === true;
  }

  exception(messageId: MessageId): ReadExceptionRecord | undefined {
    // No row names a newer message.
    if (messageId > this.#newest) return undefined;
    const row =
      this.#exceptions === null
        ? this.#view.row("readExceptions", [this.#userId, messageId])
        : this.#exceptions.get(messageId);
    return row?.isRead === true && row.at >= this.#readExceptionsBefore ? undefined : row;
  }

  /** Whether a watermark set after `since` covers the message. */
  #isCovered(message: Seen, { id, channelId }: ConversationRef, since: number): boolean {
    return (
      covers(this.watermark({ kind: "realm", id: 0 }), message, since) ||
      (channelId !== null && covers(this.watermark({ kind: "channel", id: channelId }), message, since)) ||
      covers(this.watermark({ kind: "conversation", id }), message, since) ||
      this.#isBehindSender(message, since)
    );
  }

  #isBehindSender(message: Seen, since: number): boolean {
    if (!this.marks.hasSenderWatermarks) return false;
    return covers(this.watermark({ kind: "sender", id: message.senderId }), message, since);
  }

  /** Returns null if there is none. */
  watermark(place: WatermarkScope): ReadWatermarkRecord | null {
    const name = nameOf(place);
    const known = this.#watermarks?.get(name);
    if (known !== undefined) return known;
    const { kind, id } = place;
    const row = kind === "realm" ? this.marks : this.#storedWatermark(kind, id);
    this.#remember(name, row);
    return row;
  }

  #remember(name: string, watermark: ReadWatermarkRecord | null): void {
    this.#watermarks ??= new Map();
    this.#watermarks.set(name, watermark);
  }

  #storedWatermark(kind: WatermarkKind, id: number): ReadWatermarkRecord | null {
    const row = this.#view.row("readWatermarks", [watermarkKinds[kind], id, this.#userId]) ?? null;
    if (row === null) return null;
    const isLater =
      (kind === "conversation" && row.at >= this.#conversationWatermarksBefore) ||
      (kind === "sender" && row.at >= this.#senderWatermarksBefore);
    return isLater ? null : row;
  }

  /** Up to this id nothing in the conversation is unread, except for exceptions; scans start here. */
  watermarkOf(place: { readonly channelId: ChannelId | null; readonly conversationId: ConversationId | null }): number {
    const { channelId, conversationId } = place;
    const periods = channelId === null ? [] : (this.#view.subscriptions.get(this.#userId, channelId)?.periods ?? []);
    return Math.max(
      this.watermark({ kind: "realm", id: 0 })?.upTo ?? 0,
      channelId === null ? 0 : (this.watermark({ kind: "channel", id: channelId })?.upTo ?? 0),
      conversationId === null ? 0 : (this.watermark({ kind: "conversation", id: conversationId })?.upTo ?? 0),
      periods[0]?.joinedAfterId ?? 0,
    );
  }
}

/** Earlier than every mark, so that any watermark is later. */
const never = -1;

function covers(watermark: ReadWatermarkRecord | null, message: Seen, since: number): boolean {
  return watermark !== null && watermark.upTo >= message.id && watermark.at > since;
}

function nameOf({ kind, id }: WatermarkScope): string {
  return `${kind}:${id}`;
}
