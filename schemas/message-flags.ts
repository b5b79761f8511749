/**
 * Flags, read state and read receipts of messages (spec 4.16; public API: update-message-flags and related operations).
 */

import { type Static, Type } from "typebox";
import type { WaitingRequest } from "./answer.ts";
import { defineArea, defineCommands, defineTable, type Empty } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import type { MessageId, UserId } from "./ids.ts";
import { OtherId, OtherIds, UserIds } from "./person-marks.ts";
import { flag, Id, Narrow, nullable } from "./types.ts";

const limits = {
  starred_messages_shown_max: 10_000,
  flagged_messages_per_request_max: 20_000,
  flagged_messages_per_narrow_max: 5000,
  flagged_messages_per_command_max: 500,
} as const;

/** The flags that a message can have for a reader (OpenAPI, MessagesBase), in their order. */
export const MessageFlag = Type.Enum([
  "read",
  "starred",
  "collapsed",
  "mentioned",
  "stream_wildcard_mentioned",
  "topic_wildcard_mentioned",
  "has_alert_word",
  "historical",
  "wildcard_mentioned",
]);
export type MessageFlag = Static<typeof MessageFlag>;

/** The flags that users can change. */
export const ChangeableFlag = Type.Enum(["read", "starred", "collapsed"]);
export type ChangeableFlag = Static<typeof ChangeableFlag>;

const change = {
  /** Invalid flags and flags that cannot be changed have their own error messages. */
  flag: Type.String({ maxLength: 40 }),
  op: Type.String({ maxLength: 40 }),
};

const ignored = {
  ignored_because_not_subscribed_channels: Type.Optional(OtherIds),
};

export const updateMessageFlags = defineEndpoint({
  operationId: "update-message-flags",
  method: "POST",
  path: "/messages/flags",
  authentication: "user",
  effectiveness: "durable",
  summary: "Adds a flag to messages, or removes it.",
  params: {
    ...change,
    messages: Type.Array(Id, { maxItems: limits.flagged_messages_per_request_max }),
  },
  ok: { messages: OtherIds, ...ignored },
  errors: [],
});

const count = Type.Integer({ minimum: 0, maximum: 1_000_000 });

export const updateMessageFlagsForNarrow = defineEndpoint({
  operationId: "update-message-flags-for-narrow",
  method: "POST",
  path: "/messages/flags/narrow",
  authentication: "user",
  effectiveness: "durable",
  summary: "Adds a flag to messages around an anchor that match a narrow, or removes it.",
  params: {
    ...change,
    anchor: Type.String({ maxLength: 40 }),
    include_anchor: flag(true),
    narrow: nullable(Narrow),
    num_after: count,
    num_before: count,
  },
  ok: {
    processed_count: Type.Integer(),
    updated_count: Type.Integer(),
    first_processed_id: nullable(OtherId),
    last_processed_id: nullable(OtherId),
    found_oldest: Type.Boolean(),
    found_newest: Type.Boolean(),
    ...ignored,
  },
  errors: ["BAD_NARROW"],
});

export const markAllAsRead = defineEndpoint({
  operationId: "mark-all-as-read",
  method: "POST",
  path: "/mark_all_as_read",
  authentication: "user",
  effectiveness: "durable",
  summary: "Marks all messages as read.",
  params: {},
  ok: { complete: Type.Boolean() },
  errors: [],
});

export const markStreamAsRead = defineEndpoint({
  operationId: "mark-stream-as-read",
  method: "POST",
  path: "/mark_stream_as_read",
  authentication: "user",
  effectiveness: "durable",
  summary: "Marks a channel as read.",
  params: { stream_id: Id },
  ok: {},
  errors: [],
});

export const markTopicAsRead = defineEndpoint({
  operationId: "mark-topic-as-read",
  method: "POST",
  path: "/mark_topic_as_read",
  authentication: "user",
  effectiveness: "durable",
  summary: "Marks a topic as read (spec 4.16).",
  params: { stream_id: Id, topic_name: Type.String() },
  ok: {},
  errors: [],
});

export const getReadReceipts = defineEndpoint({
  operationId: "get-read-receipts",
  method: "GET",
  path: "/messages/{message_id}/read_receipts",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns the users who have read a message.",
  params: { message_id: Id },
  ok: { user_ids: UserIds },
  errors: [],
});

/** Flags that users set themselves, besides `read`. */
export const personalFlags = { starred: 1, collapsed: 2 } as const;

export type PersonalFlag = keyof typeof personalFlags;

/** A change of message flags (behaviour 5.2). */
export interface FlagUpdate {
  readonly op: "add" | "remove";
  readonly flag: "read" | PersonalFlag;
  readonly messageIds: readonly MessageId[];
  /** true: one unreadable message rejects the whole request; false: it is skipped. */
  readonly mustReachAll: boolean;
  /** Fields of the answer besides the result. */
  readonly answer: Readonly<Record<string, unknown>>;
  readonly countsUpdated: boolean;
}

/** Parameters of its commands, by type. */
export interface MessageFlagsCommands {
  "message-flags.update": FlagUpdate;
  "message-flags.continue": FlagUpdate & {
    readonly progress: {
      readonly waiting: WaitingRequest | null;
      readonly updated: number;
      readonly ignoredChannelIds: readonly number[];
    };
  };
}

/** Their replies, by type; other commands reply without fields. */
export interface MessageFlagsReplies {
  /** Besides the fields of the command's `answer`, and `updated_count` if it is asked for. */
  readonly "message-flags.update": {
    readonly ignored_because_not_subscribed_channels?: readonly number[];
  };
}

export const messageFlagsArea = defineArea({
  endpoints: [
    updateMessageFlags,
    updateMessageFlagsForNarrow,
    markAllAsRead,
    markStreamAsRead,
    markTopicAsRead,
    getReadReceipts,
  ],
  commands: defineCommands<MessageFlagsCommands, MessageFlagsReplies>(),
  state: { starred_messages: { starred_messages: OtherIds } },
  tables: {
    /** `flag`: one of `personalFlags`. */
    messageFlags: defineTable<readonly [userId: UserId, flag: number, messageId: MessageId], Empty>({
      fields: [],
    }),
    /** The same by message, to notify the holders of changes and to remove the flags with the message. */
    flagHolders: defineTable<readonly [messageId: MessageId, userId: UserId, flag: number], Empty>({
      fields: [],
    }),
  },
  limits,
});
