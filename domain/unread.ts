/**
 * A user's unread messages, newest first up to a bound (behaviour 8). Only messages above the watermarks are read: a
 * channel is walked from its newest message down to its watermark; if much of that is already read, the rest is walked
 * topic by topic.
 */
import type { ChannelId, ConversationId, UserId } from "../schemas/ids.ts";
import { limits } from "../schemas/limits.ts";
import type { ConversationRecord, MessageIndexRecord } from "../schemas/messages.ts";
import type { ReadExceptionRecord } from "../schemas/read-state.ts";
import { canReadMessage } from "./permissions.ts";
import { ReadState, type ReadStateOverrides } from "./read-state.ts";
import type { View } from "./view.ts";

export interface UnreadMessage {
  readonly id: number;
  readonly senderId: UserId;
  readonly conversation: ConversationRecord;
  /** As in the message's row. */
  readonly traits: number;
}

export interface Unread {
  /** Ascending. */
  readonly messages: readonly UnreadMessage[];
  /** There are older unread messages. */
  readonly isTruncated: boolean;
}

export function collectUnread(view: View, userId: UserId, overrides: ReadStateOverrides = {}): Unread {
  const collector = new Collector(view, userId, overrides);
  const messages = collector.collect().sort((a, b) => a.id - b.id);
  const most = limits.unread_messages_shown_max;
  return { messages: messages.slice(-most), isTruncated: messages.length > most || collector.hasMoreMarked };
}

const rowsPerSeek = 1000;

class Collector {
  readonly #view: View;
  readonly #userId: UserId;
  readonly #state: ReadState;
  readonly #remainsIn: number | null;
  readonly #found: UnreadMessage[] = [];
  /** Messages marked as unread; they are found by their exceptions. */
  readonly #marked = new Set<number>();
  /** Older exceptions were not read. */
  hasMoreMarked = false;

  constructor(view: View, userId: UserId, overrides: ReadStateOverrides) {
    this.#view = view;
    this.#userId = userId;
    this.#remainsIn = overrides.remainsIn ?? null;
    this.#state = new ReadState(view, userId, overrides);
  }

  collect(): UnreadMessage[] {
    this.#collectMarked();
    for (const { channelId, isActive } of this.#view.subscriptions.ofUser(this.#userId)) {
      if (isActive || channelId === this.#remainsIn) this.#collectChannel(channelId);
    }
    const range = {
      start: [this.#userId + 1],
      end: [this.#userId],
      reverse: true,
      limit: limits.known_conversations_max,
    };
    for (const [, id] of this.#view.keys("directConversations", range)) this.#collectDirect(id);
    return this.#found;
  }

  /** Messages in any conversation may be marked as unread. */
  #collectMarked(): void {
    const limit = limits.read_exceptions_at_once_max;
    const exceptions = new Map<number, ReadExceptionRecord>();
    const range = { start: [this.#userId + 1], end: [this.#userId], reverse: true, limit: limit + 1 };
    const rows = this.#view.rows("readExceptions", range);
    this.hasMoreMarked = rows.length > limit;
    for (const { key, row } of rows.slice(0, limit)) exceptions.set(key[1], row);
    if (!this.hasMoreMarked) this.#state.useExceptions(exceptions);
    const user = this.#view.users.get(this.#userId);
    for (const [id, exception] of exceptions) {
      const message = exception.isRead ? undefined : this.#view.row("messages", id);
      const conversation = message === undefined ? undefined : this.#view.row("conversations", message.conversationId);
      if (message === undefined || conversation === undefined || user === undefined) continue;
      this.#marked.add(id);
      if (canReadMessage(this.#view, user, message)) this.#look(id, message, conversation);
    }
  }

  #look(id: number, { senderId, traits }: MessageIndexRecord, conversation: ConversationRecord): void {
    if (!this.#state.isRead({ id, senderId, traits }, conversation))
      this.#found.push({ id, senderId, conversation, traits });
  }

  #collectChannel(channelId: ChannelId): void {
    const watermark = this.#state.watermarkOf({ channelId, conversationId: null });
    let below = Number.MAX_SAFE_INTEGER;
    let scanned = 0;
    const before = this.#found.length;
    while (this.#found.length - before <= limits.unread_messages_shown_max) {
      const rows = this.#view.channelIndex(channelId, { above: watermark, below, limit: rowsPerSeek });
      for (const row of rows) {
        const conversation = this.#marked.has(row.id) ? undefined : this.#view.row("conversations", row.conversationId);
        if (conversation !== undefined) this.#look(row.id, row, conversation);
      }
      if (rows.length < rowsPerSeek) return;
      scanned += rows.length;
      below = rows.at(-1)?.id ?? 0;
      const isMostlyRead = (this.#found.length - before) * 2 < scanned;
      if (scanned >= limits.unread_rows_scanned_max && isMostlyRead) {
        this.#collectTopics(channelId, below);
        return;
      }
    }
  }

  /** Collects messages older than `below`, for channels where much above the watermark is already read. */
  #collectTopics(channelId: ChannelId, below: number): void {
    let last: string | null = null;
    for (;;) {
      const start: (number | string)[] = last === null ? [channelId] : [channelId, last];
      const topics = this.#view.rows("topicNames", { start, end: [channelId + 1], limit: rowsPerSeek });
      // A slice starts with the last topic of the previous one.
      for (const { key, row } of topics) if (key[1] !== last) this.#collectConversation(row.id, below);
      if (topics.length < rowsPerSeek) return;
      last = topics.at(-1)?.key[1] ?? null;
    }
  }

  #collectDirect(id: number): void {
    this.#collectConversation(id, Number.MAX_SAFE_INTEGER);
  }

  #collectConversation(conversationId: ConversationId, below: number): void {
    const conversation = this.#view.row("conversations", conversationId);
    if (conversation === undefined) return;
    const watermark = this.#state.watermarkOf({ channelId: conversation.channelId, conversationId });
    if (conversation.lastMessageId <= watermark) return;
    let before = below;
    const enough = this.#found.length + limits.unread_messages_shown_max;
    while (this.#found.length <= enough && before - 1 > watermark) {
      const range = {
        start: [conversationId, before - 1],
        end: [conversationId, watermark],
        reverse: true,
        limit: rowsPerSeek,
      };
      const rows = this.#view.rows("conversationMessages", range);
      for (const { key, row } of rows) if (!this.#marked.has(key[1])) this.#look(key[1], row, conversation);
      if (rows.length < rowsPerSeek) return;
      before = rows.at(-1)?.key[1] ?? 0;
    }
  }
}
