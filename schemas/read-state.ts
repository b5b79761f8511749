/**
 * Read state (architecture, Read state; behaviour 8): the messages that a user has read. A message is unread for its
 * recipients unless a watermark or an exception says otherwise; for its sender it is read by rule. If a watermark
 * covers a message and an exception marks it unread, the later of the two applies, so a mark is a single row however
 * many exceptions it overrides. Every decision about read state takes a sequence number (`readMark`) that decides which
 * is later. Event positions cannot be used, because not every mark emits an event.
 */

import { defineArea, defineCommands, defineTable } from "./area.ts";
import type { ResultOf } from "./endpoint.ts";
import type { ChannelId, ConversationId, MessageId, UserId } from "./ids.ts";
import type { markAllAsRead } from "./message-flags.ts";

const limits = {
  unread_messages_shown_max: 50_000,
  /** Rows that a mark examines before it answers; the rest is processed later. */
  read_rows_inline_max: 100,
  read_rows_per_command_max: 1000,
  /**
   * Average number of a user's posts between two raises of their watermark; the next value bounds the rows examined for
   * one.
   */
  own_posts_per_watermark: 64,
  own_watermark_rows_max: 256,
  read_announcement_pause_ms: 5,
  /**
   * An announcement that is not completed by then has become a dead letter; departures are no longer recorded for it.
   */
  read_announcement_ms_max: 24 * 60 * 60 * 1000,
  /** Pending announcements of a channel that a move examines. */
  read_announcements_examined_max: 16,
  /** Rows of one channel, newest first, before its topics are examined separately. */
  unread_rows_scanned_max: 20_000,
  read_exceptions_at_once_max: 50_000,
  channel_tails_max: 10_000,
  channel_tail_entries_max: 400_000,
  channel_tail_entries_per_channel_max: 100_000,
  /** Number of users multiplied by the number of moved messages, per command. */
  moved_read_states_per_command_max: 4000,
  /**
   * The same per batch. A batch delays other commands, so in a large channel fewer messages move at once, but at least
   * `move_batch_messages_min`.
   */
  moved_read_states_per_batch: 20_000,
  read_receipts_per_pass_max: 500,
} as const;

/** A user's summary, and the watermark for the whole organization. No row: the user has never marked anything. */
export interface ReadStateRecord {
  /** Messages up to this id were marked as read together. */
  readonly upTo: number;
  /** Sequence number of that mark. */
  readonly at: number;
  /** The highest message id that any of the user's rows refers to; newer messages need no lookup. */
  readonly newest: number;
  /** Whether there are watermarks for senders; these also apply to future messages. */
  readonly hasSenderWatermarks: boolean;
}

/**
 * The kinds of watermarks. Keys begin with the kind and the channel, conversation or sender, so all users with a
 * watermark in a conversation can be listed.
 */
export const watermarkKinds = { channel: 1, conversation: 2, sender: 3 } as const;

export type WatermarkKind = keyof typeof watermarkKinds;

/** Messages of the place up to this id are read. */
export interface ReadWatermarkRecord {
  readonly upTo: number;
  /** Sequence number of that mark. */
  readonly at: number;
}

/** A single message whose state differs from watermarks and rules. */
export interface ReadExceptionRecord {
  readonly isRead: boolean;
  /** Sequence number of that mark. */
  readonly at: number;
}

/** A pending announcement of a mark or an unsubscription (actors/user/read-announcements.ts). */
export interface ReadAnnouncementRecord {
  /** Milliseconds. */
  readonly startedAt: number;
}

/** A message that moved away while an announcement was pending, as it was before the move. */
export interface ReadDepartureRecord {
  readonly conversationId: ConversationId;
  readonly senderId: UserId;
  readonly traits: number;
}

/** Where one watermark applies. */
export type WatermarkScope = { readonly kind: WatermarkKind | "realm"; readonly id: number };

/** A watermark as it was before a decision, or will be after it; null: there is none. */
export interface WatermarkOverride {
  readonly place: WatermarkScope;
  readonly watermark: ReadWatermarkRecord | null;
}

/** A channel (`conversationId` null), or one topic in a channel. */
export interface ReadScope {
  readonly channelId: ChannelId;
  readonly conversationId: ConversationId | null;
}

/** The remaining work of announcing a mark-as-read or an unsubscription; see actors/user/read-announcements.ts. */
export interface ReadAnnouncement {
  readonly place: ReadScope;
  /** The watermarks for this channel or topic before the mark; null: there was none. */
  readonly before: readonly WatermarkOverride[];
  /**
   * Sequence number of the mark. Rows with this number or a higher one were written by the mark or after it, and say
   * nothing about the state before.
   */
  readonly at: number;
  /** The next message id to examine. */
  readonly from: number;
  /** Up to this message id, only exceptions were unread. */
  readonly start: number;
  readonly upTo: number;
}

/** Written by older servers only: messages that moved, and the position among the affected users. */
export interface ReadStateTransfer {
  /** The messages as they were before the move. */
  readonly messages: readonly Seen[];
  readonly from: { readonly id: number; readonly channelId: ChannelId };
  readonly to: { readonly id: number; readonly channelId: ChannelId };
  /** The target topic was created by this move. */
  readonly isNew: boolean;
  readonly upToId: number;
  readonly afterUserId: UserId;
}

/** The fields of a message that are needed; both its row and the message indexes have them. */
export interface Seen {
  readonly id: number;
  readonly senderId: UserId;
  readonly traits: number;
}

/** Parameters of its commands, by type. */
export interface ReadStateCommands {
  "read-state.mark-all": Record<string, never>;
  "read-state.mark-channel": { readonly channelId: ChannelId };
  "read-state.mark-topic": {
    readonly channelId: ChannelId;
    readonly topic: string;
    readonly mustHaveReceived: boolean;
  };
  "read-state.sweep": { readonly from: number; readonly upTo: number; readonly at: number };
  "read-state.announce": ReadAnnouncement;
  "read-state.carry": ReadStateTransfer;
}

/** Their replies, by type; other commands reply without fields. */
export interface ReadStateReplies {
  readonly "read-state.mark-all": ResultOf<typeof markAllAsRead>;
}

export const readStateArea = defineArea({
  commands: defineCommands<ReadStateCommands, ReadStateReplies>(),
  tables: {
    readStates: defineTable<UserId, ReadStateRecord>({
      fields: ["upTo", "at", "newest", "hasSenderWatermarks"],
    }),
    /** `kind`: one of `watermarkKinds`; the place is a channel, a conversation or a sender. */
    readWatermarks: defineTable<readonly [kind: number, placeId: number, userId: UserId], ReadWatermarkRecord>({
      fields: ["upTo", "at"],
    }),
    readExceptions: defineTable<readonly [userId: UserId, messageId: MessageId], ReadExceptionRecord>({
      fields: ["isRead", "at"],
    }),
    /** `mark`: sequence number of the mark that is being announced. */
    readAnnouncements: defineTable<
      readonly [channelId: ChannelId, userId: UserId, mark: number],
      ReadAnnouncementRecord
    >({
      fields: ["startedAt"],
      dates: ["startedAt"],
    }),
    /** By the channel that the message was in; only while `readAnnouncements` has a row about it. */
    readDepartures: defineTable<
      readonly [channelId: ChannelId, messageId: MessageId, mark: number],
      ReadDepartureRecord
    >({
      fields: ["conversationId", "senderId", "traits"],
    }),
  },
  counters: ["readMark"],
  limits,
});
