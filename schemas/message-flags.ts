/** Flags, marks and receipts of messages (spec 4.16; public API: update-message-flags and those beside it). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { flag, Id, Narrow, nullable } from "./types.ts";

const change = {
  /** Which there are and which can be changed is told in words of their own. */
  flag: Type.String({ maxLength: 40 }),
  op: Type.String({ maxLength: 40 }),
};

const ignored = {
  ignored_because_not_subscribed_channels: Type.Optional(Type.Array(Id)),
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
  ok: { messages: Type.Array(Id), ...ignored },
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
    first_processed_id: nullable(Id),
    last_processed_id: nullable(Id),
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
  summary: "Marks everything as read.",
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
  summary: "Who has read a message.",
  params: { message_id: Id },
  ok: { user_ids: Type.Array(Id) },
  errors: [],
});
