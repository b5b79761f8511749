/** Changing messages (public API: update-message, delete-message, get-message-history; spec 2.9). */

import { Type } from "typebox";
import type { Answer, WaitingRequest } from "./answer.ts";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { Attachment } from "./attachments.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import type { ChannelId, ConversationId, MessageId } from "./ids.ts";
import type { ParsedContent } from "./parsed-content.ts";
import { OtherId, OtherText, RenderedText, typedBy, UserId } from "./person-marks.ts";
import { flag, Id } from "./types.ts";

const limits = {
  /** Stored entries of a message's edits, a topic's former names and a message's moves; older ones are dropped. */
  message_history_entries_max: 100,
  /** Total characters of two renderings to compare; longer ones have no `content_html_diff`. */
  history_diff_characters_max: 20_000,
  /** Differing words and tags; beyond that the whole text counts as replaced. */
  history_diff_edits_max: 150,
  move_batch_messages: 200,
  /** Characters of the texts in a batch, source and rendered. A batch ends when it reaches this number. */
  move_batch_characters: 1_000_000,
  /** Messages counted to report how much of a topic may be moved. */
  move_messages_counted_max: 10_000,
  /** Clients may open the editor at the last moment (behaviour of the public API). */
  edit_grace_s: 20,
  resolve_undo_s: 60,
  /** Rows removed with the messages of one command, also by retention. A message with more rows is removed alone. */
  removal_batch_rows: 1000,
  move_batch_messages_min: 1,
  /** If more users want to read the notice, or have a policy for the topic, it is unread for everybody. */
  resolve_notice_readers_max: 1000,
} as const;

const propagateModes = ["change_one", "change_later", "change_all"] as const;
export const PropagateMode = Type.Enum([...propagateModes]);

export const updateMessage = defineEndpoint({
  operationId: "update-message",
  method: "PATCH",
  path: "/messages/{message_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Changes a message's content, or moves it and possibly others to another topic or channel.",
  params: {
    message_id: Id,
    content: Type.Optional(Type.String()),
    prev_content_sha256: Type.Optional(Type.String({ maxLength: 64 })),
    propagate_mode: Type.Enum([...propagateModes], { wire: "text", default: "change_one" }),
    send_notification_to_new_thread: flag(true),
    send_notification_to_old_thread: flag(false),
    stream_id: Type.Optional(Id),
    topic: Type.Optional(Type.String()),
  },
  aliases: { subject: "topic" },
  ok: { detached_uploads: Type.Array(Attachment) },
  errors: [
    "EXPECTATION_MISMATCH",
    "MOVE_MESSAGES_TIME_LIMIT_EXCEEDED",
    "REQUEST_CONFUSING_VAR",
    "STREAM_WILDCARD_MENTION_NOT_ALLOWED",
    "TOPIC_WILDCARD_MENTION_NOT_ALLOWED",
  ],
});

export const deleteMessage = defineEndpoint({
  operationId: "delete-message",
  method: "DELETE",
  path: "/messages/{message_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Permanently deletes a message.",
  params: { message_id: Id },
  ok: {},
  errors: [],
});

/** The first entry is the message as it was sent; later ones can be moves by other users. */
const author = "../message_history/0/user_id";

export const getMessageHistory = defineEndpoint({
  operationId: "get-message-history",
  method: "GET",
  path: "/messages/{message_id}/history",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns the message after each of its changes, oldest first.",
  params: { message_id: Id, allow_empty_topic_name: flag(false) },
  ok: {
    message_history: Type.Array(
      Type.Object({
        user_id: UserId,
        timestamp: Type.Integer(),
        topic: OtherText,
        content: typedBy(author),
        rendered_content: RenderedText,
        /** The rendered content with its changes marked. */
        content_html_diff: Type.Optional(RenderedText),
        prev_content: Type.Optional(typedBy(author)),
        prev_rendered_content: Type.Optional(RenderedText),
        prev_topic: Type.Optional(OtherText),
        prev_stream: Type.Optional(OtherId),
        stream: Type.Optional(OtherId),
      }),
    ),
  },
  errors: [],
});

/** One content edit of a message, with the previous content (spec 2.9, edit history). */
export interface MessageEditRecord {
  readonly userId: UserId;
  readonly at: number;
  readonly prevContent: string;
  readonly prevRendered: string;
  /** The move or rename in the same request; null: only the content changed. */
  readonly moveId: number | null;
  /**
   * The newest move or rename before this edit. It orders changes that have the same time. null: unknown, so the order
   * follows the times.
   */
  readonly afterMoveId: number | null;
}

/** A rename of a whole topic: one row, regardless of the number of messages (architecture, Moves). */
export interface TopicRenameRecord {
  readonly userId: UserId;
  readonly at: number;
  readonly prevTopic: string;
  readonly topic: string;
  /** The topic's last message at that time: later messages never had the previous name. */
  readonly upToId: number;
}

/** A move of messages to another conversation. The messages list their moves (`MessageRecord.moves`). */
export interface MessageMoveRecord {
  readonly userId: UserId;
  readonly at: number;
  /** The source conversation. */
  readonly fromId: number;
  readonly prevChannelId: ChannelId;
  readonly channelId: ChannelId;
  readonly prevTopic: string;
  readonly topic: string;
}

/**
 * A notice that a topic was resolved or unresolved, unread only for these users. No row: a notice like any other
 * message. Ids ascending.
 */
export interface ResolveNoticeRecord {
  readonly unreadByIds: readonly UserId[];
}

export type PropagateMode = "change_one" | "change_later" | "change_all";

/** Public API, update-message; null: not passed, keeps its value. */
export interface MessageEdit {
  readonly content: { readonly text: string; readonly parsed: ParsedContent } | null;
  readonly topic: string | null;
  readonly channelId: ChannelId | null;
  readonly propagateMode: PropagateMode;
  readonly notifiesOldThread: boolean;
  readonly notifiesNewThread: boolean;
  readonly prevContentSha256: string | null;
}

interface TopicAddress {
  readonly channelId: ChannelId;
  readonly topic: string;
}

/** Users for whom the same messages become read by a move. */
export interface BecomesRead {
  /** Ascending. */
  readonly messageIds: readonly MessageId[];
  readonly userIds: readonly UserId[];
}

/** A batch of messages that moves after users' read state has been written slice by slice. */
export interface BegunBatch {
  /** The target conversation. */
  readonly conversationId: ConversationId;
  /** Last message id of the batch. */
  readonly upToId: number;
  /** The next slice continues with users above this id. */
  readonly afterUserId: UserId;
  /** Notified when the messages move. Absent in commands of older servers, which notified slice by slice. */
  readonly becomesRead?: readonly BecomesRead[];
}

/** The remaining part of a move, passed from batch to batch (architecture, Moves). */
export interface MessageMove {
  readonly moveId: number;
  readonly movedById: UserId;
  readonly at: number;
  /** The message named in the request, and which other messages move with it. */
  readonly messageId: MessageId;
  readonly propagateMode: PropagateMode;
  readonly conversationId: ConversationId;
  readonly from: TopicAddress;
  readonly to: TopicAddress;
  /** Message ids above `afterId` and up to `upToId`. */
  readonly afterId: number;
  readonly upToId: number;
  /** Only messages that the mover can see move: the channel's history is protected. */
  readonly isLimitedToVisible: boolean;
  /** Whether the move includes every message that the mover can see. */
  readonly isWhole: boolean;
  /**
   * The contents of the target: no messages, only messages that the mover cannot see, or messages that the mover can
   * see.
   */
  readonly target: "free" | "hidden" | "visible";
  readonly notifiesOldThread: boolean;
  readonly notifiesNewThread: boolean;
  /** The notice to post when a whole topic merges into another one because it was resolved or unresolved. */
  readonly toggle?: TopicToggle;
  /** Number of messages moved so far. */
  readonly count: number;
  /** The next batch, while users' read state is written ahead of it. */
  readonly begun?: BegunBatch;
  /** Returned in the answer: files that the request's content edit leaves without a link. */
  readonly detachedUploads?: readonly Answer[];
  /** The request to answer when the move is complete. */
  readonly waiting: WaitingRequest | null;
}

/** A topic rename that only adds or removes the mark of a resolved topic, or none. */
export type TopicToggle = "resolved" | "unresolved" | "none";

/** Parameters of its commands, by type. */
export interface MessageChangesCommands {
  "message.delete": Record<string, never>;
  "topic.refreshLastMessage": Record<string, never>;
  "topic-deletion.continue": Record<string, never>;
  /** The move that the deletion may be waiting for has ended. */
  "topic-deletion.move-ended": Record<string, never>;
  /** Durable timer: the deadline of a request that waits for a move. */
  "topic-deletion.deadline": Record<string, never>;
  "topic-deletion.abandon": Record<string, never>;
  "message.edit": MessageEdit;
  /** Messages that move into this conversation from another one, in batches. */
  "messages.import": MessageMove;
  /** Emits the `update_message` event of a rename for the next batch of messages. */
  "topic.announce-rename": MessageMove;
  /** Follows all other commands of the move; it answers the waiting request. */
  "topic.move-ended": Pick<MessageMove, "moveId" | "waiting" | "detachedUploads">;
}

/** Their replies, by type; other commands reply without fields. */
export interface MessageChangesReplies {
  readonly "message.edit": ResultOf<typeof updateMessage>;
}

export const messageChangesArea = defineArea({
  endpoints: [updateMessage, deleteMessage, getMessageHistory],
  commands: defineCommands<MessageChangesCommands, MessageChangesReplies>(),
  tables: {
    messageEdits: defineTable<readonly [messageId: MessageId, sequence: number], MessageEditRecord>({
      fields: ["userId", "at", "prevContent", "prevRendered", "moveId", "afterMoveId"],
      dates: ["at"],
    }),
    /** Ordered by `move` ids, which renames and moves share. */
    topicRenames: defineTable<readonly [conversationId: ConversationId, moveId: number], TopicRenameRecord>({
      fields: ["userId", "at", "prevTopic", "topic", "upToId"],
      dates: ["at"],
    }),
    messageMoves: defineTable<number, MessageMoveRecord>({
      fields: ["userId", "at", "fromId", "prevChannelId", "channelId", "prevTopic", "topic"],
      dates: ["at"],
    }),
    /** Only for messages with the trait `isResolveNotice`. */
    resolveNotices: defineTable<MessageId, ResolveNoticeRecord>({
      fields: ["unreadByIds"],
    }),
  },
  counters: ["move"],
  limits,
});
