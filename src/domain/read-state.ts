/**
 * What a person has read (architecture, Read state; behaviour 8). Unread is what somebody received and neither wrote themselves
 * nor has behind a floor; exceptions say otherwise for single messages. Leaving a channel marks what is in it as read: only
 * channels that one is in hold unread messages.
 */
import { hasTrait } from "../../schemas/message-traits.ts";
import { type FloorKind, floorKinds } from "../../schemas/records/read-state.ts";
import type {
  ConversationRecord,
  MessageRecord,
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

/** How it was before something that has been decided already: for telling people of it. */
export interface FormerState {
  /** A floor as it was; null: there was none. Place 0 of "realm" is the mark of everything. */
  readonly floor?: {
    readonly kind: FloorKind | "realm";
    readonly placeId: number;
    readonly row: ReadFloorRecord | null;
  };
  /** A channel as if its person were still in it. */
  readonly remainsIn?: number;
}

/** Whether a person has read a message. Messages that they did not receive count as read. */
export function isRead(view: View, reader: UserRecord, message: MessageRecord): boolean {
  const conversation = view.row("conversations", message.conversationId);
  return conversation === undefined || new ReadState(view, reader.id).isRead(message, conversation);
}

/** Whether it arrived while the reader was there; direct messages always did. */
export function isReceived(view: View, reader: UserRecord, message: MessageRecord): boolean {
  const conversation = view.row("conversations", message.conversationId);
  return conversation !== undefined && isReceivedIn(view, reader.id, message.id, conversation);
}

function isReceivedIn(view: View, userId: number, messageId: number, conversation: ConversationRecord): boolean {
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
  readonly #view: View;
  readonly #userId: number;
  readonly #former: FormerState;
  readonly #floors = new Map<string, ReadFloorRecord | null>();
  /** What is stored; null: nothing was ever marked. */
  readonly marks: ReadStateRecord | null;

  constructor(view: View, userId: number, former: FormerState = {}) {
    this.#view = view;
    this.#userId = userId;
    this.#former = former;
    this.marks = view.row("readStates", userId) ?? null;
  }

  isRead(message: Seen, conversation: ConversationRecord): boolean {
    const { marks } = this;
    if (!this.holdsUnread(conversation)) return true;
    const isReadByRule =
      isOwnRead(this.#userId, message) || !isReceivedIn(this.#view, this.#userId, message.id, conversation);
    if (marks === null) return isReadByRule;
    // What is newer than all that was ever marked follows the rules; of floors, only a sender's reaches beyond.
    if (message.id > marks.newest) return isReadByRule || this.#isBehindSender(message, never);
    const exception = this.#view.row("readExceptions", [this.#userId, message.id]);
    if (exception?.isRead === true || (exception === undefined && isReadByRule)) return true;
    return this.#isFloored(message, conversation, exception?.at ?? never);
  }

  /** Whether there can be unread messages for the person at all. */
  holdsUnread({ userIds, channelId }: ConversationRecord): boolean {
    if (userIds !== null) return userIds.includes(this.#userId);
    if (channelId === null || channelId === this.#former.remainsIn) return channelId !== null;
    return this.#view.subscriptions.get(this.#userId, channelId)?.isActive === true;
  }

  /** Whether a floor that was said after `since` covers the message. */
  #isFloored(message: Seen, { id, channelId }: ConversationRecord, since: number): boolean {
    return (
      covers(this.floor("realm", 0), message, since) ||
      (channelId !== null && covers(this.floor("channel", channelId), message, since)) ||
      covers(this.floor("conversation", id), message, since) ||
      this.#isBehindSender(message, since)
    );
  }

  #isBehindSender(message: Seen, since: number): boolean {
    return this.marks?.hasSenderFloors === true && covers(this.floor("sender", message.senderId), message, since);
  }

  /** null: there is none. */
  floor(kind: FloorKind | "realm", placeId: number): ReadFloorRecord | null {
    const { floor: former } = this.#former;
    if (former?.kind === kind && former.placeId === placeId) return former.row;
    if (kind === "realm") return this.marks;
    const name = `${kind}:${placeId}`;
    const known = this.#floors.get(name);
    if (known !== undefined) return known;
    const row = this.#view.row("readFloors", [floorKinds[kind], placeId, this.#userId]) ?? null;
    this.#floors.set(name, row);
    return row;
  }
}

/** Before every position: any floor is later. */
const never = -1;

function covers(floor: ReadFloorRecord | null, message: Seen, since: number): boolean {
  return floor !== null && floor.upTo >= message.id && floor.at > since;
}
