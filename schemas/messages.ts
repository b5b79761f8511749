/** Messages (spec 2.9, 4.10; public API: send-message, get-messages). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { Submessage } from "./submessages.ts";
import { flag, Id, Ids, Narrow, nullable, Recipient } from "./types.ts";

/** Spec 2.9. Optional fields are absent when they do not apply. */
export const Message = Type.Object({
  id: Id,
  type: Type.Enum(["stream", "private"]),
  stream_id: Type.Optional(Id),
  subject: Type.String(),
  content: Type.String(),
  content_type: Type.Enum(["text/html", "text/x-markdown"]),
  timestamp: Type.Integer(),
  sender_id: Id,
  sender_email: Type.String(),
  sender_full_name: Type.String(),
  sender_realm_str: Type.String(),
  avatar_url: nullable(Type.String()),
  client: Type.String(),
  recipient_id: Id,
  display_recipient: Type.Union([Type.String(), Type.Array(Type.Record(Type.String(), Type.Unknown()))]),
  is_me_message: Type.Boolean(),
  flags: Type.Optional(Type.Array(Type.String())),
  last_edit_timestamp: Type.Optional(Type.Integer()),
  last_moved_timestamp: Type.Optional(Type.Integer()),
  edit_history: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
  reactions: Type.Array(Type.Unknown()),
  submessages: Type.Array(Submessage),
  topic_links: Type.Array(Type.Object({ text: Type.String(), url: Type.String() })),
  /** Where something was searched for: HTML with what was found marked. */
  match_content: Type.Optional(Type.String()),
  match_subject: Type.Optional(Type.String()),
});

export const sendMessage = defineEndpoint({
  operationId: "send-message",
  method: "POST",
  path: "/messages",
  authentication: "user",
  effectiveness: "durable",
  allowsIncomingWebhooks: true,
  summary: "Sends a message to a channel's topic or to people directly.",
  params: {
    type: Type.Enum(["direct", "channel", "stream", "private"], { wire: "text" }),
    /** Only a bot with a default channel may leave it out. */
    to: Type.Optional(Recipient),
    content: Type.String(),
    topic: Type.Optional(Type.String()),
    queue_id: Type.Optional(Type.String({ maxLength: 200 })),
    local_id: Type.Optional(Type.String({ maxLength: limits.local_id_code_points_max })),
    read_by_sender: Type.Optional(Type.Boolean()),
  },
  aliases: { subject: "topic" },
  ok: {
    id: Id,
    /** The sender's policy for the topic, if sending has changed it (OpenAPI, send-message): unmuted or followed. */
    automatic_new_visibility_policy: Type.Optional(Type.Enum([2, 3])),
  },
  errors: [
    "STREAM_DOES_NOT_EXIST",
    "REQUEST_CONFUSING_VAR",
    "STREAM_WILDCARD_MENTION_NOT_ALLOWED",
    "TOPIC_WILDCARD_MENTION_NOT_ALLOWED",
  ],
});

/** How many are given at most is a rule about the sum, with a message of its own. */
const count = Type.Integer({ minimum: 0, maximum: 1_000_000 });

export const getMessages = defineEndpoint({
  operationId: "get-messages",
  method: "GET",
  path: "/messages",
  authentication: "optional",
  effectiveness: "read",
  summary: "Messages around an anchor that match a narrow. Without credentials only those of web-public channels.",
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
  summary: "One message (spec 4.10). Without credentials only one of a web-public channel.",
  params: { message_id: Id, apply_markdown: flag(true), allow_empty_topic_name: flag(false) },
  ok: { message: Message, raw_content: Type.String() },
  errors: [],
});

export const renderMessage = defineEndpoint({
  operationId: "render-message",
  method: "POST",
  path: "/messages/render",
  authentication: "user",
  effectiveness: "read",
  summary: "The HTML that a message of the caller would have; nothing is sent.",
  params: { content: Type.String() },
  ok: { rendered: Type.String() },
  errors: [],
});

export const checkMessagesMatchNarrow = defineEndpoint({
  operationId: "check-messages-match-narrow",
  method: "GET",
  path: "/messages/matches_narrow",
  authentication: "user",
  effectiveness: "read",
  summary: "Which of some messages match a narrow, with what was searched for marked (spec 4.9).",
  params: { msg_ids: Ids, narrow: Narrow },
  ok: {
    messages: Type.Record(Type.String(), Type.Object({ match_content: Type.String(), match_subject: Type.String() })),
  },
  errors: ["BAD_NARROW"],
});

export const getStreamTopics = defineEndpoint({
  operationId: "get-stream-topics",
  method: "GET",
  path: "/users/me/{stream_id}/topics",
  authentication: "optional",
  effectiveness: "read",
  summary: "A channel's topics that the caller can read, the one with the newest message first.",
  params: { stream_id: Id, allow_empty_topic_name: flag(false) },
  ok: { topics: Type.Array(Type.Object({ name: Type.String(), max_id: Id })) },
  errors: [],
});
