/** Scheduled messages: written now and posted by the server later (public API: scheduled_messages). */

import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import { sentAsStored } from "./event.ts";
import type { ChannelId, UserId } from "./ids.ts";
import { commonLimits } from "./limits/common.ts";
import type { ParsedContent } from "./parsed-content.ts";
import { OtherId, OtherText, RenderedText, UserIds } from "./person-marks.ts";
import { DeliveryTime, Id } from "./types.ts";

const limits = {
  /** Including failed ones. */
  /** Each is stored with its HTML, which may take 0.3 MB (docs/account-bounds.md). */
  scheduled_messages_per_user_max: 250,
} as const;

const MessageType = Type.Enum(["direct", "channel", "stream", "private"], { wire: "text" });

/** A channel or users; only ids. */
const Target = Type.Union([Id, Type.Array(Id, { maxItems: commonLimits.direct_recipients_max })]);

export const ScheduledMessage = Type.Object(
  {
    scheduled_message_id: OtherId,
    type: Type.Enum(["stream", "private"]),
    to: Type.Union([OtherId, UserIds]),
    /** Only for channel messages. */
    topic: Type.Optional(OtherText),
    /** Shown only to its author. */
    content: OtherText,
    rendered_content: RenderedText,
    /** UNIX seconds. */
    scheduled_delivery_timestamp: Type.Integer(),
    /** It was due and could not be posted. */
    failed: Type.Boolean(),
  },
  { title: "ScheduledMessage" },
);

export const getScheduledMessages = defineEndpoint({
  operationId: "get-scheduled-messages",
  method: "GET",
  path: "/scheduled_messages",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns the caller's undelivered scheduled messages, next due first.",
  params: {},
  ok: { scheduled_messages: Type.Array(ScheduledMessage) },
  errors: [],
});

export const createScheduledMessage = defineEndpoint({
  operationId: "create-scheduled-message",
  method: "POST",
  path: "/scheduled_messages",
  authentication: "user",
  effectiveness: "durable",
  summary: "Schedules a message. It is checked as if it were sent now, and again when it is due.",
  params: {
    type: MessageType,
    to: Target,
    content: Type.String(),
    topic: Type.Optional(Type.String()),
    scheduled_delivery_timestamp: DeliveryTime,
    read_by_sender: Type.Optional(Type.Boolean()),
  },
  ok: { scheduled_message_id: OtherId },
  errors: ["STREAM_DOES_NOT_EXIST", "STREAM_WILDCARD_MENTION_NOT_ALLOWED", "TOPIC_WILDCARD_MENTION_NOT_ALLOWED"],
});

export const updateScheduledMessage = defineEndpoint({
  operationId: "update-scheduled-message",
  method: "PATCH",
  path: "/scheduled_messages/{scheduled_message_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Changes a scheduled message; a failed one needs a new time.",
  params: {
    scheduled_message_id: Id,
    type: Type.Optional(MessageType),
    to: Type.Optional(Target),
    content: Type.Optional(Type.String()),
    topic: Type.Optional(Type.String()),
    scheduled_delivery_timestamp: Type.Optional(DeliveryTime),
  },
  ok: {},
  errors: [
    "NOT_FOUND",
    "STREAM_DOES_NOT_EXIST",
    "STREAM_WILDCARD_MENTION_NOT_ALLOWED",
    "TOPIC_WILDCARD_MENTION_NOT_ALLOWED",
  ],
});

export const deleteScheduledMessage = defineEndpoint({
  operationId: "delete-scheduled-message",
  method: "DELETE",
  path: "/scheduled_messages/{scheduled_message_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Deletes a scheduled message before it is sent.",
  params: { scheduled_message_id: Id },
  ok: {},
  errors: ["NOT_FOUND"],
});

/** The timer fields of a row that is due at a certain time. */
export interface Scheduled {
  /** Earliest time of delivery. */
  readonly dueAt: number;
  /**
   * Sequence number of its timer; together with `dueAt` the timer's key. null: the timer has fired and the delivery
   * failed.
   */
  readonly timer: number | null;
}

/** A message to be posted later. Removed in the turn that posts it (M3). */
export interface ScheduledMessageRecord extends Scheduled {
  readonly id: number;
  readonly userId: UserId;
  /** null: a direct message. */
  readonly channelId: ChannelId | null;
  /** "" in a direct message. */
  readonly topic: string;
  /** Participants, ascending, including the sender; null: a channel message. */
  readonly userIds: readonly UserId[] | null;
  readonly content: string;
  /** For lists; the posted message is rendered again. */
  readonly rendered: string;
  /** The server's name as used by the author's client, for links. */
  readonly siteUrl: string;
  readonly client: string;
  readonly isReadBySender: boolean;
}

export type ScheduledType = "channel" | "direct";

/** A text, parsed before the turn. */
export interface ParsedText {
  readonly text: string;
  readonly parsed: ParsedContent;
}

/** The names by which the user's client identifies itself and this server. */
interface Origin {
  readonly client: string;
  readonly siteUrl: string;
}

/** Public API, create-scheduled-message. */
export interface ScheduledMessageInput extends Origin {
  readonly type: ScheduledType;
  readonly to: number | readonly number[];
  readonly topic: string | null;
  readonly content: ParsedText;
  readonly dueAt: number;
  /** null: not passed. */
  readonly isReadBySender: boolean | null;
  /** Sending from this client implies that the message is read. */
  readonly isReadingClient: boolean;
}

/** Public API, update-scheduled-message; null: not passed, keeps its value. */
export interface ScheduledMessageUpdate extends Origin {
  readonly id: number;
  readonly type: ScheduledType | null;
  readonly to: number | readonly number[] | null;
  readonly topic: string | null;
  readonly content: ParsedText | null;
  readonly dueAt: number | null;
}

/** Parameters of its commands, by type. */
export interface ScheduledMessagesCommands {
  "scheduled-messages.remove": { readonly id: number };
  /** `timer` identifies the timer that fired. One set before an edit no longer matches and is ignored. */
  "scheduled-messages.due": { readonly userId: UserId; readonly id: number; readonly timer: number };
  /** Every attempt to post the message threw (M6). */
  "scheduled-messages.give-up": { readonly id: number; readonly timer: number };
  "scheduled-messages.add": ScheduledMessageInput;
  "scheduled-messages.update": ScheduledMessageUpdate;
}

/** Their replies, by type; other commands reply without fields. */
export interface ScheduledMessagesReplies {
  readonly "scheduled-messages.add": ResultOf<typeof createScheduledMessage>;
}

export const scheduledMessagesArea = defineArea({
  endpoints: [getScheduledMessages, createScheduledMessage, updateScheduledMessage, deleteScheduledMessage],
  commands: defineCommands<ScheduledMessagesCommands, ScheduledMessagesReplies>(),
  state: { scheduled_messages: { scheduled_messages: Type.Array(ScheduledMessage) } },
  tables: {
    scheduledMessages: defineTable<readonly [userId: UserId, id: number], ScheduledMessageRecord>({
      fields: [
        "id",
        "userId",
        "channelId",
        "topic",
        "userIds",
        "content",
        "rendered",
        "siteUrl",
        "client",
        "isReadBySender",
        "dueAt",
        "timer",
      ],
    }),
  },
  events: {
    scheduled_messages: sentAsStored({
      add: { scheduled_messages: Type.Array(ScheduledMessage) },
      update: { scheduled_message: ScheduledMessage },
      remove: { scheduled_message_id: OtherId },
    }),
  },
  counters: ["scheduledMessage"],
  limits,
});
