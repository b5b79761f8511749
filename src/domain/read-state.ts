/**
 * What a person has read (architecture, Read state; behaviour 8). Unread is what somebody received and neither wrote themselves
 * nor has behind a floor; exceptions say otherwise for single messages. Leaving a channel marks what is in it as read: only
 * channels that one is in hold unread messages.
 */
import { botTypes } from "../../schemas/bots.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import { type FloorKind, floorKinds } from "../../schemas/records/read-state.ts";
import type {
  ConversationRecord,
  MessageRecord,
  ReadExceptionRecord,
  ReadFloorRecord,
  ReadStateRecord,
  UserRecord,
} from "../../schemas/records.ts";
import { hasReceived } from "./permissions.ts";
import type { View } from "./view.ts";

/** What the question needs of a message: its row has it, and so have the indexes of messages. */
export interface Seen {
  readonly id: number;
  readonly senderId: number;
  readonly traits: number;
}

/** Where a message is. */
export type ReadPlace = Pick<ConversationRecord, "id" | "channelId" | "userIds">;

export type Place = { readonly kind: FloorKind | "realm"; readonly id: number };

/** Floors as they were before a decision, or as they will be after it; null: none. What is not named is as it is stored. */
export interface Supposed {
  readonly floors?: readonly { readonly place: Place; readonly floor: ReadFloorRecord | null }[];
  /** A channel as if its person had not left it. */
  readonly remainsIn?: number;
  /** Floors of conversations that reach further were raised since: as if there were none. */
  readonly conversationFloorsUpTo?: number;
  /** Floors of senders with the mark of that number or a later one were raised since, too. */
  readonly senderFloorsBefore?: number;
  /** And what was kept as read, message by message, with that mark or a later one. */
  readonly readExceptionsBefore?: number;
}

/** Of somebody who has marked nothing yet. */
export const nothingMarked: ReadStateRecord = { upTo: 0, at: 0, newest: 0, hasSenderFloors: false };

/** Whether the person whose state it is has read a message. Messages that they did not receive count as read. */
export function isRead(view: View, message: MessageRecord, state: ReadState): boolean {
  const conversation = view.row("conversations", message.conversationId);
  return conversation === undefined || state.isRead(message, conversation);
}

/** Whether it arrived while the reader was there, or was sent to a bot by mentioning it; direct messages always did. */
export function isReceived(view: View, reader: UserRecord, message: MessageRecord): boolean {
  const conversation = view.row("conversations", message.conversationId);
  if (conversation === undefined) return false;
  return (
    isReceivedIn(view, reader.id, message.id, conversation) ||
    (reader.botType === botTypes.generic && calledBotsOf(view, message).includes(reader.id))
  );
}

/** Bots outside the channel that received a message because it mentioned them (records/read-state.ts). */
export function calledBotsOf(view: View, { id, traits }: Pick<MessageRecord, "id" | "traits">): readonly number[] {
  if (!hasTrait(traits, "callsAttention")) return [];
  return view.row("messageAttention", id)?.calledBotIds ?? [];
}

function isReceivedIn(view: View, userId: number, messageId: number, conversation: ReadPlace): boolean {
  if (conversation.userIds !== null) return conversation.userIds.includes(userId);
  const subscription = view.subscriptions.get(userId, conversation.channelId ?? 0);
  return subscription !== undefined && hasReceived(subscription.stays, messageId);
}

/** One's own messages are read, unless the client that sent them said otherwise (public API: read_by_sender). */
export function isOwnRead(userId: number, message: Seen): boolean {
  return message.senderId === userId && !hasTrait(message.traits, "isUnreadBySender");
}

/** One person's read state at one moment, for many messages: floors are looked up once. */
export class ReadState {
  /** The summary, as it is stored. */
  readonly marks: ReadStateRecord;
  readonly #view: View;
  readonly #userId: number;
  readonly #remainsIn: number | null;
  readonly #conversationFloorsUpTo: number;
  readonly #senderFloorsBefore: number;
  readonly #readExceptionsBefore: number;
  /** Made when it is first needed: a message that is newer than all marks needs none. */
  #floors: Map<string, ReadFloorRecord | null> | null = null;
  /** What is newer is not named by any row. */
  readonly #newest: number;
  /** All of the person's, when they were read at once. */
  #exceptions: ReadonlyMap<number, ReadExceptionRecord> | null = null;

  constructor(view: View, userId: number, supposed: Supposed = {}) {
    this.#view = view;
    this.#userId = userId;
    this.#remainsIn = supposed.remainsIn ?? null;
    this.#conversationFloorsUpTo = supposed.conversationFloorsUpTo ?? Number.MAX_SAFE_INTEGER;
    this.#senderFloorsBefore = supposed.senderFloorsBefore ?? Number.MAX_SAFE_INTEGER;
    this.#readExceptionsBefore = supposed.readExceptionsBefore ?? Number.MAX_SAFE_INTEGER;
    this.marks = view.row("readStates", userId) ?? nothingMarked;
    let { newest } = this.marks;
    for (const { place, floor } of supposed.floors ?? []) {
      this.#remember(nameOf(place), floor);
      newest = Math.max(newest, floor?.upTo ?? 0);
    }
    this.#newest = newest;
  }

  /** Looks no exception up one by one from here on. */
  useExceptions(exceptions: ReadonlyMap<number, ReadExceptionRecord>): void {
    this.#exceptions = exceptions;
  }

  isRead(message: Seen, conversation: ReadPlace): boolean {
    if (!this.holdsUnread(conversation)) return true;
    const isReadByRule = this.#isReadByRule(message, conversation);
    // What is newer than all that was ever marked follows the rules; of floors, only a sender's reaches beyond.
    if (message.id > this.#newest) return isReadByRule || this.#isBehindSender(message, never);
    const exception = this.exception(message.id);
    if (exception?.isRead === true || (exception === undefined && isReadByRule)) return true;
    return this.#isFloored(message, conversation, exception?.at ?? never);
  }

  /** Whether rules and floors alone say so: an exception that says the same is not needed. */
  isReadAnyway(message: Seen, conversation: ReadPlace): boolean {
    return (
      !this.holdsUnread(conversation) ||
      this.#isReadByRule(message, conversation) ||
      this.#isFloored(message, conversation, never)
    );
  }

  #isReadByRule(message: Seen, conversation: ReadPlace): boolean {
    return (
      isOwnRead(this.#userId, message) ||
      hasTrait(message.traits, "changedChannel") ||
      this.#isQuietNotice(message) ||
      !isReceivedIn(this.#view, this.#userId, message.id, conversation)
    );
  }

  /** The notice of a resolved topic, for whom it was read from the beginning (spec 2.3, resolved_topic_notice_auto_read_policy). */
  #isQuietNotice({ id, traits }: Seen): boolean {
    if (!hasTrait(traits, "isResolveNotice")) return false;
    return this.#view.row("resolveNotices", id)?.unreadByIds.includes(this.#userId) === false;
  }

  /** Whether there can be unread messages for the person at all. */
  holdsUnread({ userIds, channelId }: ReadPlace): boolean {
    if (userIds !== null) return userIds.includes(this.#userId);
    if (channelId === null || channelId === this.#remainsIn) return channelId !== null;
    return this.#view.subscriptions.get(this.#userId, channelId)?.isActive === true;
  }

  exception(messageId: number): ReadExceptionRecord | undefined {
    const row =
      this.#exceptions === null
        ? this.#view.row("readExceptions", [this.#userId, messageId])
        : this.#exceptions.get(messageId);
    return row?.isRead === true && row.at >= this.#readExceptionsBefore ? undefined : row;
  }

  /** Whether a floor that was said after `since` covers the message. */
  #isFloored(message: Seen, { id, channelId }: ReadPlace, since: number): boolean {
    return (
      covers(this.floor({ kind: "realm", id: 0 }), message, since) ||
      (channelId !== null && covers(this.floor({ kind: "channel", id: channelId }), message, since)) ||
      covers(this.floor({ kind: "conversation", id }), message, since) ||
      this.#isBehindSender(message, since)
    );
  }

  #isBehindSender(message: Seen, since: number): boolean {
    if (!this.marks.hasSenderFloors) return false;
    return covers(this.floor({ kind: "sender", id: message.senderId }), message, since);
  }

  /** null: there is none. */
  floor(place: Place): ReadFloorRecord | null {
    const name = nameOf(place);
    const known = this.#floors?.get(name);
    if (known !== undefined) return known;
    const { kind, id } = place;
    const row = kind === "realm" ? this.marks : this.#storedFloor(kind, id);
    this.#remember(name, row);
    return row;
  }

  #remember(name: string, floor: ReadFloorRecord | null): void {
    this.#floors ??= new Map();
    this.#floors.set(name, floor);
  }

  #storedFloor(kind: FloorKind, id: number): ReadFloorRecord | null {
    const row = this.#view.row("readFloors", [floorKinds[kind], id, this.#userId]) ?? null;
    if (row === null) return null;
    const isLater =
      (kind === "conversation" && row.upTo > this.#conversationFloorsUpTo) ||
      (kind === "sender" && row.at >= this.#senderFloorsBefore);
    return isLater ? null : row;
  }

  /** Up to here nothing in the place is unread, but for exceptions: where looking begins. */
  floorOf(place: { readonly channelId: number | null; readonly conversationId: number | null }): number {
    const { channelId, conversationId } = place;
    const stays = channelId === null ? [] : (this.#view.subscriptions.get(this.#userId, channelId)?.stays ?? []);
    return Math.max(
      this.floor({ kind: "realm", id: 0 })?.upTo ?? 0,
      channelId === null ? 0 : (this.floor({ kind: "channel", id: channelId })?.upTo ?? 0),
      conversationId === null ? 0 : (this.floor({ kind: "conversation", id: conversationId })?.upTo ?? 0),
      stays[0]?.joinedAfterId ?? 0,
    );
  }
}

/** Before every mark: any floor is later. */
const never = -1;

function covers(floor: ReadFloorRecord | null, message: Seen, since: number): boolean {
  return floor !== null && floor.upTo >= message.id && floor.at > since;
}

function nameOf({ kind, id }: Place): string {
  return `${kind}:${id}`;
}
