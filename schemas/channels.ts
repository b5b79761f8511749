/** Channels and topics (spec 2.4, 4.3, 4.13; public API: get-streams). */
import { type TProperties, Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { channelGroupSettingNames } from "./group-settings.ts";
import {
  flag,
  GroupSettingChange,
  GroupSettingValue,
  groupParams,
  Id,
  Ids,
  MessageRetentionDays,
  nullable,
  TopicsPolicyParam,
} from "./types.ts";

/** Settings that a channel is created with, by create-channel and by subscribe. */
export const creationParams = {
  announce: flag(false),
  invite_only: flag(false),
  is_web_public: flag(false),
  is_default_stream: flag(false),
  folder_id: Type.Optional(nullable(Id)),
  topics_policy: Type.Optional(TopicsPolicyParam),
  history_public_to_subscribers: Type.Optional(Type.Boolean()),
  message_retention_days: Type.Optional(MessageRetentionDays),
  ...groupParams(channelGroupSettingNames, GroupSettingValue),
} as const satisfies TProperties;

export const createChannel = defineEndpoint({
  operationId: "create-channel",
  method: "POST",
  path: "/channels/create",
  authentication: "user",
  effectiveness: "durable",
  role: "member",
  summary: "Creates a channel and subscribes people to it (spec 4.3).",
  params: {
    name: Type.String(),
    subscribers: Ids,
    description: Type.String({ default: "" }),
    /** Nobody is told directly of a channel that is new, so both values mean the same here. */
    send_new_subscription_messages: flag(true),
    ...creationParams,
  },
  ok: { id: Id },
  errors: ["CHANNEL_ALREADY_EXISTS", "REQUEST_VARIABLE_INVALID", "UNAUTHORIZED_PRINCIPAL"],
});

/** The channel record that every read gives (behaviour 2.3). */
export const Channel = Type.Object({
  stream_id: Id,
  name: Type.String(),
  description: Type.String(),
  rendered_description: Type.String(),
  creator_id: nullable(Id),
  date_created: Type.Integer(),
  invite_only: Type.Boolean(),
  is_web_public: Type.Boolean(),
  history_public_to_subscribers: Type.Boolean(),
  is_archived: Type.Boolean(),
  is_recently_active: Type.Boolean(),
  is_announcement_only: Type.Boolean(),
  stream_post_policy: Type.Integer(),
  stream_weekly_traffic: nullable(Type.Integer()),
  subscriber_count: Type.Integer(),
  first_message_id: nullable(Id),
  folder_id: nullable(Id),
  message_retention_days: nullable(Type.Integer()),
  topics_policy: Type.String(),
});

export const getStreams = defineEndpoint({
  operationId: "get-streams",
  method: "GET",
  path: "/streams",
  authentication: "user",
  effectiveness: "read",
  summary: "The channels that the caller can see.",
  params: {
    include_public: flag(true),
    include_web_public: flag(false),
    include_subscribed: flag(true),
    exclude_archived: flag(true),
    include_all: flag(false),
    include_all_active: flag(false),
    include_default: flag(false),
    include_owner_subscribed: flag(false),
    include_can_access_content: flag(false),
  },
  ok: { streams: Type.Array(Channel) },
  errors: [],
});

export const getChannel = defineEndpoint({
  operationId: "get-stream-by-id",
  method: "GET",
  path: "/streams/{stream_id}",
  authentication: "user",
  effectiveness: "read",
  summary: "One channel that the caller may know of, archived or not.",
  params: { stream_id: Id },
  ok: { stream: Channel },
  errors: [],
});

export const getChannelId = defineEndpoint({
  operationId: "get-stream-id",
  method: "GET",
  path: "/get_stream_id",
  authentication: "user",
  effectiveness: "read",
  summary: "The id of the channel with a name, whatever its case.",
  params: { stream: Type.String() },
  ok: { stream_id: Id },
  errors: [],
});

export const updateChannel = defineEndpoint({
  operationId: "update-stream",
  method: "PATCH",
  path: "/streams/{stream_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Changes a channel, all that is asked for or nothing (spec 4.4); whoever administers it may.",
  params: {
    stream_id: Id,
    description: Type.Optional(Type.String()),
    new_name: Type.Optional(Type.String()),
    is_private: Type.Optional(Type.Boolean()),
    is_web_public: Type.Optional(Type.Boolean()),
    history_public_to_subscribers: Type.Optional(Type.Boolean()),
    is_default_stream: Type.Optional(Type.Boolean()),
    message_retention_days: Type.Optional(MessageRetentionDays),
    is_archived: Type.Optional(Type.Boolean()),
    folder_id: Type.Optional(nullable(Id)),
    topics_policy: Type.Optional(TopicsPolicyParam),
    ...groupParams(channelGroupSettingNames, GroupSettingChange),
  },
  ok: {},
  errors: ["CHANNEL_ALREADY_EXISTS", "REQUEST_VARIABLE_INVALID", "UNAUTHORIZED_PRINCIPAL", "EXPECTATION_MISMATCH"],
});

export const getChannelEmail = defineEndpoint({
  operationId: "get-stream-email-address",
  method: "GET",
  path: "/streams/{stream_id}/email_address",
  authentication: "user",
  effectiveness: "read",
  summary: "The address to which mails for a channel go: empty, because this server takes no mail.",
  params: { stream_id: Id, sender_id: Type.Optional(Id) },
  ok: { email: Type.String() },
  errors: [],
});

export const createBigBlueButtonCall = defineEndpoint({
  operationId: "create-big-blue-button-video-call",
  method: "GET",
  path: "/calls/bigbluebutton/create",
  authentication: "user",
  effectiveness: "read",
  summary: "Refused: this server makes no video calls of BigBlueButton's.",
  params: { meeting_name: Type.String(), voice_only: Type.Optional(Type.Boolean()) },
  ok: { url: Type.String() },
  errors: [],
});

export const archiveChannel = defineEndpoint({
  operationId: "archive-stream",
  method: "DELETE",
  path: "/streams/{stream_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Archives a channel: it stays readable, nobody writes into it; whoever administers it may.",
  params: { stream_id: Id },
  ok: {},
  errors: [],
});

export const deleteTopic = defineEndpoint({
  operationId: "delete-topic",
  method: "POST",
  path: "/streams/{stream_id}/delete_topic",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Deletes all messages of a topic in batches, newest first (spec 4.13); organization administrators only.",
  params: { stream_id: Id, topic_name: Type.String() },
  ok: { complete: Type.Boolean() },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});
