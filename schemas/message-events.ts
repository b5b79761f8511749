/** Events about messages, their changes, and typing (spec 2.9; behaviour 4.4, 7). */
import { Type } from "typebox";
import { Attachment } from "./attachments.ts";
import { defineEvent, sentAsStored } from "./event.ts";
import { emojiFields, TopicLinks } from "./event-values.ts";
import { PropagateMode } from "./message-changes.ts";
import { ChangeableFlag, MessageFlag } from "./message-flags.ts";
import { MessageBody } from "./messages.ts";
import {
  emailOf,
  fullNameOf,
  OtherId,
  OtherIds,
  OtherText,
  RenderedText,
  typedBy,
  UserId,
  UserIds,
} from "./person-marks.ts";

/** The content part of an edit: all of them, or none. */
export const contentFields = {
  orig_content: typedBy("user_id"),
  orig_rendered_content: RenderedText,
  content: typedBy("user_id"),
  rendered_content: RenderedText,
  is_me_message: Type.Boolean(),
};
const optionalContent = {
  orig_content: Type.Optional(contentFields.orig_content),
  orig_rendered_content: Type.Optional(contentFields.orig_rendered_content),
  content: Type.Optional(contentFields.content),
  rendered_content: Type.Optional(contentFields.rendered_content),
  is_me_message: Type.Optional(contentFields.is_me_message),
};

const updateFields = {
  user_id: UserId,
  rendering_only: Type.Boolean(),
  message_id: OtherId,
  message_ids: OtherIds,
  edit_timestamp: Type.Integer(),
  ...optionalContent,
  /** Absent in direct conversations. */
  stream_id: Type.Optional(OtherId),
  propagate_mode: Type.Optional(PropagateMode),
  orig_subject: Type.Optional(OtherText),
  new_stream_id: Type.Optional(OtherId),
  subject: Type.Optional(OtherText),
};

/** `operation` is the older name of `op`. */
const flagChange = {
  operation: Type.Enum(["add", "remove"]),
  flag: ChangeableFlag,
  messages: OtherIds,
  all: Type.Boolean(),
};
/** Where messages are that a client may not have. Empty: the message is gone. */
const Details = Type.Record(
  Type.String(),
  Type.Object({
    type: Type.Optional(Type.Enum(["private", "stream"])),
    user_ids: Type.Optional(UserIds),
    stream_id: Type.Optional(Type.Union([OtherId, Type.Null()])),
    topic: Type.Optional(OtherText),
    mentioned: Type.Optional(Type.Boolean()),
  }),
);

const reaction = { user_id: UserId, message_id: OtherId, ...emojiFields };
const Reactor = Type.Object({ email: emailOf("user_id"), full_name: fullNameOf("user_id"), user_id: UserId });
const wireReaction = { ...reaction, user: Reactor };

const directTyping = { message_type: Type.Literal("direct"), sender_id: UserId, recipient_ids: UserIds };
const channelTyping = {
  message_type: Type.Literal("stream"),
  sender_id: UserId,
  stream_id: OtherId,
  topic: OtherText,
};
const storedTyping = [directTyping, channelTyping] as const;
const Typist = Type.Object({ user_id: UserId, email: emailOf("user_id") });
const wireTyping = [
  { message_type: Type.Literal("direct"), sender: Typist, recipients: Type.Array(Typist) },
  { message_type: Type.Literal("stream"), sender: Typist, stream_id: OtherId, topic: OtherText },
] as const;
const typingEdit = {
  sender_id: UserId,
  message_id: OtherId,
  recipient: Type.Union([
    Type.Object({ type: Type.Literal("direct"), user_ids: UserIds }),
    Type.Object({ type: Type.Literal("channel"), channel_id: OtherId, topic: OtherText }),
  ]),
};

const directDeletion = { message_type: Type.Literal("private") };
const channelDeletion = { message_type: Type.Literal("stream"), stream_id: OtherId, topic: OtherText };
/** A client without `bulk_message_deletion` gets one event per message. */
const one = { message_id: OtherId };
const many = { message_ids: OtherIds };

const space = { upload_space_used: Type.Integer() };

export const messageEvents = {
  /** `queue_id` and `local_id`: the queue that sent it gets its own id back. */
  message: defineEvent({
    stored: { "": { message_id: OtherId, queue_id: Type.Optional(OtherText), local_id: Type.Optional(OtherText) } },
    wire: {
      "": {
        message: MessageBody,
        flags: Type.Array(MessageFlag),
        local_message_id: Type.Optional(OtherText),
      },
    },
  }),
  update_message: defineEvent({
    stored: {
      "": {
        ...updateFields,
        /** For the new channel's subscribers; `told_ids` also got the event of the old channel. */
        is_arrival: Type.Optional(Type.Literal(true)),
        told_ids: Type.Optional(UserIds),
      },
    },
    wire: {
      "": {
        ...updateFields,
        stream_name: Type.Optional(OtherText),
        topic_links: Type.Optional(TopicLinks),
        flags: Type.Array(MessageFlag),
      },
    },
  }),
  delete_message: defineEvent({
    stored: {
      "": [
        { ...directDeletion, ...many },
        { ...channelDeletion, ...many },
      ],
    },
    wire: {
      "": [
        { ...directDeletion, ...many },
        { ...directDeletion, ...one },
        { ...channelDeletion, ...many },
        { ...channelDeletion, ...one },
      ],
    },
  }),
  update_message_flags: defineEvent({
    stored: { add: flagChange, remove: flagChange },
    wire: { add: flagChange, remove: { ...flagChange, message_details: Type.Optional(Details) } },
  }),
  /** The user is read on delivery, because the address may have been hidden since. */
  reaction: defineEvent({
    stored: { add: reaction, remove: reaction },
    wire: { add: wireReaction, remove: wireReaction },
  }),
  submessage: sentAsStored({
    "": {
      msg_type: OtherText,
      message_id: OtherId,
      submessage_id: OtherId,
      sender_id: UserId,
      content: typedBy("sender_id"),
    },
  }),
  typing: defineEvent({
    stored: { start: storedTyping, stop: storedTyping },
    wire: { start: wireTyping, stop: wireTyping },
  }),
  typing_edit_message: sentAsStored({ start: typingEdit, stop: typingEdit }),
  /** The file is read on delivery. */
  attachment: defineEvent({
    stored: {
      add: { attachment_id: OtherId, ...space },
      update: { attachment_id: OtherId, ...space },
      remove: { attachment: Type.Object({ id: OtherId }), ...space },
    },
    wire: {
      add: { attachment: Attachment, ...space },
      update: { attachment: Attachment, ...space },
      remove: { attachment: Type.Object({ id: OtherId }), ...space },
    },
  }),
} as const;
