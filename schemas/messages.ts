/** Messages (spec 2.9, 4.10; public API: send-message, get-messages). */

import { type Static, Type } from "typebox";
import { defineArea, defineCommands, defineTable, type Empty } from "./area.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import type { DeepReadonly } from "./event.ts";
import { emojiFields, TopicLinks } from "./event-values.ts";
import type { ChannelId, ConversationId, GroupId, MessageId } from "./ids.ts";
import { MessageFlag } from "./message-flags.ts";
import type { ParsedContent } from "./parsed-content.ts";
import {
  avatarOf,
  emailOf,
  fullNameOf,
  marked,
  OtherId,
  OtherText,
  RenderedText,
  typedBy,
  UserId,
  UserIds,
} from "./person-marks.ts";
import { Submessage } from "./submessages.ts";
import { flag, Id, Ids, Narrow, nullable, Recipient } from "./types.ts";

const limits = {
  message_code_points_max: 10_000,
  local_id_code_points_max: 64,
  messages_per_fetch_max: 5000,
  /** Characters of message texts, source and rendered, in one direction from the anchor; the answer ends there. */
  fetch_characters_max: 16_000_000,
  /** Channels and conversations whose indexes are merged for one feed; with more, the newest messages are scanned. */
  feed_places_max: 2000,
  /** After a pause, an answer with more messages is not built in one pass. */
  fetch_again_rows_max: 250,
  /** Ends of encoded messages that messages of one author in one topic share, for the whole process: about 500 characters each. */
  message_ends_max: 4096,
  topics_per_list_max: 100_000,
  /** Topics of such a list that one pass of the event loop reads. */
  topics_per_pass_max: 500,
  recent_direct_conversations_max: 1000,
  topic_participants_scanned_max: 1000,
  /** If a message names more users, none of them automatically follows its topic. */
  mention_follows_per_message_max: 50,
  /**
   * If other commands change the messages of an answer while it is built, the stale parts are rebuilt in up to this
   * many further passes, then in a single one.
   */
  fetch_rounds_max: 4,
} as const;

/** A user in `display_recipient` of a direct message. */
const DirectRecipient = Type.Object({
  id: UserId,
  email: emailOf("id"),
  full_name: fullNameOf("id"),
  is_mirror_dummy: Type.Boolean(),
});

/** One change of a message or of its place, newest first. */
const EditHistoryEntry = Type.Object({
  user_id: UserId,
  timestamp: Type.Integer(),
  prev_content: Type.Optional(typedBy("../sender_id")),
  prev_rendered_content: Type.Optional(RenderedText),
  prev_topic: Type.Optional(OtherText),
  topic: Type.Optional(OtherText),
  prev_stream: Type.Optional(OtherId),
  stream: Type.Optional(OtherId),
});

/**
 * The message object (spec 2.9) without `flags`, which depend on the reader. Optional fields are absent if they do not
 * apply.
 */
export const MessageBody = Type.Object({
  id: OtherId,
  sender_id: UserId,
  content: typedBy("sender_id", { field: "content_type", equals: "text/x-markdown" }),
  content_type: Type.Enum(["text/html", "text/x-markdown"]),
  timestamp: Type.Integer(),
  client: OtherText,
  is_me_message: Type.Boolean(),
  reactions: Type.Array(Type.Object({ ...emojiFields, user_id: UserId })),
  submessages: Type.Array(Submessage),
  sender_full_name: fullNameOf("sender_id"),
  sender_email: emailOf("sender_id"),
  sender_realm_str: OtherText,
  avatar_url: avatarOf("sender_id"),
  type: Type.Enum(["stream", "private"]),
  stream_id: Type.Optional(OtherId),
  display_recipient: Type.Union([OtherText, Type.Array(DirectRecipient)]),
  recipient_id: OtherId,
  subject: OtherText,
  topic_links: TopicLinks,
  last_edit_timestamp: Type.Optional(Type.Integer()),
  last_moved_timestamp: Type.Optional(Type.Integer()),
  edit_history: Type.Optional(Type.Array(EditHistoryEntry)),
});
export type MessageBody = DeepReadonly<Static<typeof MessageBody>>;

/** The fields that a search adds to each message: HTML with highlighted matches. */
export const MatchFields = Type.Object({ match_content: RenderedText, match_subject: OtherText });
export type MatchFields = DeepReadonly<Static<typeof MatchFields>>;

const Message = Type.Object(
  {
    ...MessageBody.properties,
    flags: Type.Array(MessageFlag),
    match_content: Type.Optional(MatchFields.properties.match_content),
    match_subject: Type.Optional(MatchFields.properties.match_subject),
  },
  { title: "Message" },
);

export const sendMessage = defineEndpoint({
  operationId: "send-message",
  method: "POST",
  path: "/messages",
  authentication: "user",
  effectiveness: "durable",
  allowsIncomingWebhooks: true,
  summary: "Sends a message to a topic of a channel, or directly to users.",
  params: {
    type: Type.Enum(["direct", "channel", "stream", "private"], { wire: "text" }),
    /** Only a bot with a default channel may omit it. */
    to: Type.Optional(Recipient),
    content: Type.String(),
    topic: Type.Optional(Type.String()),
    queue_id: Type.Optional(Type.String({ maxLength: 200 })),
    local_id: Type.Optional(Type.String({ maxLength: limits.local_id_code_points_max })),
    read_by_sender: Type.Optional(Type.Boolean()),
  },
  aliases: { subject: "topic" },
  ok: {
    id: OtherId,
    /** The sender's new policy for the topic if sending changed it (OpenAPI, send-message): unmuted or followed. */
    automatic_new_visibility_policy: Type.Optional(Type.Enum([2, 3])),
  },
  errors: [
    "STREAM_DOES_NOT_EXIST",
    "REQUEST_CONFUSING_VAR",
    "STREAM_WILDCARD_MENTION_NOT_ALLOWED",
    "TOPIC_WILDCARD_MENTION_NOT_ALLOWED",
  ],
});

/** The limit applies to the sum of both counts and has its own error message. */
const count = Type.Integer({ minimum: 0, maximum: 1_000_000 });

export const getMessages = defineEndpoint({
  operationId: "get-messages",
  method: "GET",
  path: "/messages",
  authentication: "optional",
  effectiveness: "read",
  summary:
    "Returns messages around an anchor that match a narrow. Without credentials, only those in web-public channels.",
  params: {
    anchor: Type.Optional(Type.String({ maxLength: 40 })),
    /** ISO 8601; only with the anchor `date`. */
    anchor_date: Type.Optional(Type.String({ maxLength: 40 })),
    include_anchor: Type.Optional(Type.Boolean()),
    num_before: Type.Optional(count),
    num_after: Type.Optional(count),
    narrow: Type.Optional(nullable(Narrow)),
    client_gravatar: flag(true),
    apply_markdown: flag(true),
    use_first_unread_anchor: Type.Optional(Type.Boolean()),
    message_ids: Type.Optional(Ids),
    allow_empty_topic_name: flag(false),
  },
  ok: {
    messages: Type.Array(Message),
    anchor: Type.Optional(Type.Integer()),
    found_anchor: Type.Boolean(),
    found_oldest: Type.Boolean(),
    found_newest: Type.Boolean(),
    history_limited: Type.Boolean(),
  },
  errors: ["BAD_NARROW"],
});

export const getMessage = defineEndpoint({
  operationId: "get-message",
  method: "GET",
  path: "/messages/{message_id}",
  authentication: "optional",
  effectiveness: "read",
  summary: "Returns one message (spec 4.10). Without credentials, only from a web-public channel.",
  params: { message_id: Id, apply_markdown: flag(true), allow_empty_topic_name: flag(false) },
  ok: { message: Message, raw_content: typedBy("message/sender_id") },
  errors: [],
});

export const renderMessage = defineEndpoint({
  operationId: "render-message",
  method: "POST",
  path: "/messages/render",
  authentication: "user",
  effectiveness: "read",
  summary: "Renders a text as a message of the caller, without sending it.",
  params: { content: Type.String() },
  ok: { rendered: RenderedText },
  errors: [],
});

export const checkMessagesMatchNarrow = defineEndpoint({
  operationId: "check-messages-match-narrow",
  method: "GET",
  path: "/messages/matches_narrow",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns those of the given messages that match a narrow, with search matches highlighted (spec 4.9).",
  params: { msg_ids: Ids, narrow: Narrow },
  ok: {
    messages: Type.Record(Type.String(), MatchFields),
  },
  errors: ["BAD_NARROW"],
});

export const getStreamTopics = defineEndpoint({
  operationId: "get-stream-topics",
  method: "GET",
  path: "/users/me/{stream_id}/topics",
  authentication: "optional",
  effectiveness: "read",
  summary: "Returns the topics of a channel that the caller can read, newest message first.",
  params: { stream_id: Id, allow_empty_topic_name: flag(false) },
  ok: { topics: Type.Array(Type.Object({ name: OtherText, max_id: OtherId })) },
  errors: [],
});

export interface MessageRecord {
  readonly id: MessageId;
  readonly conversationId: ConversationId;
  readonly senderId: UserId;
  readonly sentAt: number;
  readonly content: string;
  readonly rendered: string;
  readonly client: string;
  /** Bit set of `messageTraits` (schemas/messages.ts). */
  readonly traits: number;
  readonly mentionedUserIds: readonly UserId[];
  readonly mentionedGroupIds: readonly GroupId[];
  /** Time of the last content edit; null: never edited, so there are no rows in `messageEdits`. */
  readonly editedAt: number | null;
  /** Ids of the moves to another conversation, oldest first; only the newest are kept. */
  readonly moves: readonly number[];
}

/** A conversation: the topic machine's state and context. The rows also serve as the list of topics. */
export interface ConversationRecord {
  readonly id: ConversationId;
  readonly state: string;
  readonly version: number;
  readonly channelId: ChannelId | null;
  /** The topic in its current spelling; compared case-insensitively. "" for direct messages. */
  readonly topic: string;
  /** Participants of a direct conversation, ascending; null in channels. */
  readonly userIds: readonly UserId[] | null;
  readonly lastMessageId: MessageId;
  /** Number of renames of the whole topic; 0: there are no rows in `topicRenames`. */
  readonly renames: number;
  /** The move that is moving messages out of this conversation or emitting a new name; null: none. */
  readonly movingId: number | null;
}

/** Fields of a message in its indexes, so that counting unread messages opens no message rows. */
export interface MessageIndexRecord {
  readonly senderId: UserId;
  /** As in the message's row. */
  readonly traits: number;
}

/**
 * Users who should notice a message although it does not mention them by name. The row exists only if there are any.
 * Ids ascending.
 */
export interface MessageAlertsRecord {
  /** Recipients whose alert words it contained when it was posted or edited. */
  readonly alertedUserIds: readonly UserId[];
  /** Users who had posted in the topic, if it has a topic mention. */
  readonly participantIds: readonly UserId[];
  /** Generic bots that received it only because it mentioned them when it was posted. null: none, or an older row. */
  readonly mentionedBotIds: readonly UserId[] | null;
}

export interface MessagePost {
  readonly content: string;
  readonly parsed: ParsedContent;
  readonly client: string;
  /** Returned to the sending client only: other queues do not receive it. */
  readonly queueId: string | null;
  readonly localId: string | null;
  readonly isReadBySender: boolean;
  /**
   * The user whose access decides which channel mentions become links, when a bot posts on that user's behalf. Default:
   * the sender.
   */
  readonly mentionsAs?: number;
  /**
   * Marks a notice that a topic was resolved or unresolved. The notice is deleted if the change is reverted at once.
   */
  readonly isResolveNotice?: true;
  /** Users for whom this notice is unread. Default: everybody. */
  readonly unreadByIds?: readonly UserId[];
  /** The user whose action caused this notice: the notice is marked as read for them (behaviour 2.3 e). */
  readonly readById?: UserId;
  /**
   * The message that triggered an outgoing webhook, if this post is the webhook's response. If the post is rejected,
   * the bot's owner is notified.
   */
  readonly answersMessageId?: MessageId;
  /** JSON text of the widget that a webhook's answer adds. Default: the one that the content names. */
  readonly widget?: string;
}

/** Parameters of its commands, by type. */
export interface MessagesCommands {
  "message.post": MessagePost;
}

/** Their replies, by type; other commands reply without fields. */
export interface MessagesReplies {
  readonly "message.post": ResultOf<typeof sendMessage>;
}

export const messagesArea = defineArea({
  endpoints: [sendMessage, getMessages, getMessage, renderMessage, checkMessagesMatchNarrow, getStreamTopics],
  commands: defineCommands<MessagesCommands, MessagesReplies>(),
  state: {
    message: { max_message_id: marked(Type.Integer({ minimum: -1 }), "none") },
    recent_private_conversations: {
      recent_private_conversations: Type.Array(Type.Object({ max_message_id: OtherId, user_ids: UserIds })),
    },
  },
  tables: {
    conversations: defineTable<ConversationId, ConversationRecord>({
      fields: ["id", "state", "version", "channelId", "topic", "userIds", "lastMessageId", "renames", "movingId"],
    }),
    topicNames: defineTable<readonly [channelId: ChannelId, foldedTopic: string], { readonly id: ConversationId }>({
      fields: ["id"],
    }),
    directNames: defineTable<string, { readonly id: ConversationId }>({
      fields: ["id"],
    }),
    directConversations: defineTable<readonly [userId: UserId, conversationId: ConversationId], Empty>({
      fields: [],
    }),
    messages: defineTable<MessageId, MessageRecord>({
      fields: [
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
      dates: ["sentAt", "editedAt"],
    }),
    conversationMessages: defineTable<
      readonly [conversationId: ConversationId, messageId: MessageId],
      MessageIndexRecord
    >({
      fields: ["senderId", "traits"],
    }),
    channelMessages: defineTable<
      readonly [channelId: ChannelId, messageId: MessageId],
      { readonly conversationId: ConversationId } & MessageIndexRecord
    >({
      fields: ["conversationId", "senderId", "traits"],
    }),
    /** Only for messages with the trait `hasAlerts`. */
    messageAlerts: defineTable<MessageId, MessageAlertsRecord>({
      fields: ["alertedUserIds", "participantIds", "mentionedBotIds"],
    }),
  },
  counters: ["message"],
  limits,
});
