/** Channels and topics (spec 2.4, 4.3, 4.13; public API: get-streams). */

import { type Static, type TProperties, Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import type { DeepReadonly } from "./event.ts";
import { channelGroupSettingNames, type GroupSettingName } from "./group-settings.ts";
import type { ChannelId, MessageId } from "./ids.ts";
import { OtherId, OtherText, RenderedText, typedBy, UserId } from "./person-marks.ts";
import {
  flag,
  GroupSettingChange,
  GroupSettingValue,
  groupParams,
  Id,
  Ids,
  MessageRetentionDays,
  nullable,
  type TopicsPolicy,
  TopicsPolicyParam,
  topicsPolicies,
} from "./types.ts";
import type { GroupRecord } from "./user-groups.ts";

const limits = {
  channel_name_code_points_max: 60,
  channel_description_code_points_max: 1024,
  channels_per_realm_max: 100_000,
  /** Channels as JSON, of all organizations together: about 1,200 characters each. */
  encoded_channels_characters_max: 16 * 1024 * 1024,
  /** By one person who is not an administrator, and that person's bots, within 24 hours. */
  channels_created_per_person_per_day_max: 1000,
  channels_created_per_request_max: 100,
  /** More new channels in one request are created in slices of this size. */
  channels_created_per_command_max: 10,
  /** A channel without messages for this long is not recently active. */
  channel_inactive_days: 180,
  /** How often channels are checked for inactivity, and how often the server checks whether that is due. */
  channel_activity_announce_ms: 24 * 60 * 60 * 1000,
  channel_activity_check_ms: 60 * 60 * 1000,
  channel_activity_per_command_max: 500,
  topic_deletion_batch_messages: 200,
  /** Messages per batch while other requests are active; bounds how long they wait for a deletion. */
  topic_deletion_batch_messages_busy: 25,
  topic_deletion_waiters_max: 100,
} as const;

/** Settings for new channels, in create-channel and in subscribe. */
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
  summary: "Creates a channel and subscribes users to it (spec 4.3).",
  params: {
    name: Type.String(),
    subscribers: Ids,
    description: Type.String({ default: "" }),
    /** New subscribers of a new channel get no direct message, so both values have the same effect here. */
    send_new_subscription_messages: flag(true),
    ...creationParams,
  },
  ok: { id: OtherId },
  errors: ["CHANNEL_ALREADY_EXISTS", "REQUEST_VARIABLE_INVALID", "UNAUTHORIZED_PRINCIPAL"],
});

const shownGroups = Object.fromEntries(channelGroupSettingNames.map((name) => [name, GroupSettingValue])) as Record<
  GroupSettingName,
  typeof GroupSettingValue
>;

/** The channel object returned by all reads (behaviour 2.3). */
export const channelFields = {
  stream_id: OtherId,
  name: OtherText,
  description: typedBy(null),
  rendered_description: RenderedText,
  creator_id: nullable(UserId),
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
  first_message_id: nullable(OtherId),
  folder_id: nullable(OtherId),
  message_retention_days: nullable(Type.Integer()),
  topics_policy: Type.Enum([...topicsPolicies]),
  ...shownGroups,
};
export const Channel = Type.Object(channelFields, { title: "Channel" });
export type ChannelBody = DeepReadonly<Static<typeof Channel>>;

export const getStreams = defineEndpoint({
  operationId: "get-streams",
  method: "GET",
  path: "/streams",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns the channels that the caller can see.",
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
  ok: { streams: Type.Array(Type.Object({ ...channelFields, is_default: Type.Optional(Type.Boolean()) })) },
  errors: [],
});

export const getChannel = defineEndpoint({
  operationId: "get-stream-by-id",
  method: "GET",
  path: "/streams/{stream_id}",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns one channel that the caller can see, archived or not.",
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
  summary: "Returns the id of the channel with the given name, compared case-insensitively.",
  params: { stream: Type.String() },
  ok: { stream_id: OtherId },
  errors: [],
});

export const updateChannel = defineEndpoint({
  operationId: "update-stream",
  method: "PATCH",
  path: "/streams/{stream_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Changes a channel atomically (spec 4.4); only its administrators.",
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
  summary: "Returns the address for emails to a channel: always empty, because this server accepts no email.",
  params: { stream_id: Id, sender_id: Type.Optional(Id) },
  ok: { email: Type.Literal("") },
  errors: [],
});

export const createBigBlueButtonCall = defineEndpoint({
  operationId: "create-big-blue-button-video-call",
  method: "GET",
  path: "/calls/bigbluebutton/create",
  authentication: "user",
  effectiveness: "read",
  summary: "Always rejected: this server does not support BigBlueButton calls.",
  params: { meeting_name: Type.String(), voice_only: Type.Optional(Type.Boolean()) },
  ok: { url: OtherText },
  errors: [],
});

export const archiveChannel = defineEndpoint({
  operationId: "archive-stream",
  method: "DELETE",
  path: "/streams/{stream_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Archives a channel, which stays readable but accepts no messages; only its administrators.",
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

/** Since when a user can see a channel. Earlier events about it are not replayed (E2, S1). */
export interface ChannelVisibilityRecord {
  /** Position of the first event that may be sent. */
  readonly sincePosition: number;
}

/** A channel that passed all checks, with the anonymous groups for its permissions. */
export interface NewChannel {
  readonly channel: ChannelRecord;
  readonly groups: readonly GroupRecord[];
  readonly isAnnounced: boolean;
}

export interface ChannelRecord {
  readonly id: ChannelId;
  /** `recipient_id` of its messages (spec 2.9). */
  readonly recipientId: number;
  readonly name: string;
  readonly description: string;
  readonly renderedDescription: string;
  readonly creatorId: UserId | null;
  readonly createdAt: number;
  readonly isPrivate: boolean;
  readonly isWebPublic: boolean;
  readonly isHistoryPublic: boolean;
  readonly isDefault: boolean;
  readonly isArchived: boolean;
  /** null: the organization's default; -1: unlimited (as in the public API). */
  readonly messageRetentionDays: number | null;
  readonly folderId: number | null;
  readonly topicsPolicy: TopicsPolicy;
  readonly firstMessageId: MessageId | null;
  /** Group ids by setting name; absent: the default from the settings table. */
  readonly groups: Readonly<Partial<Record<GroupSettingName, number>>>;
}

export interface ChannelCreate {
  readonly name: string;
  readonly description: string;
  readonly renderedDescription: string;
  readonly isPrivate: boolean;
  readonly isWebPublic: boolean;
  readonly isHistoryPublic: boolean | null;
  readonly isDefault: boolean;
  readonly messageRetentionDays: number | string | null;
  readonly folderId: number | null;
  readonly topicsPolicy: TopicsPolicy;
  readonly groups: Readonly<Partial<Record<GroupSettingName, GroupSettingValue>>>;
  readonly subscriberIds: readonly UserId[];
  readonly announce: boolean;
  readonly isWebPublicAllowed: boolean;
}

/** Spec 4.4; null: not passed, keeps its value. */
export interface ChannelUpdate {
  readonly channelId: ChannelId;
  readonly description: { readonly description: string; readonly renderedDescription: string } | null;
  /** Trimmed. */
  readonly newName: string | null;
  readonly isPrivate: boolean | null;
  readonly isWebPublic: boolean | null;
  readonly isHistoryPublic: boolean | null;
  readonly isDefault: boolean | null;
  readonly messageRetentionDays: number | string | null;
  readonly isArchived: boolean | null;
  /** `id` null: removed from its folder. */
  readonly folder: { readonly id: number | null } | null;
  readonly topicsPolicy: TopicsPolicy | null;
  readonly groups: Readonly<Partial<Record<GroupSettingName, GroupSettingChange>>>;
  readonly isWebPublicAllowed: boolean;
}

/** Announces the channels that were active at `since` and no longer are at `upTo`, both in milliseconds. */
export interface InactivityCheck {
  readonly since: number;
  readonly upTo: number;
  /** Channels up to this id are done. */
  readonly afterId: number;
}

export interface TopicDeletionRequest {
  readonly deadline: number;
}

/** Parameters of its commands, by type. */
export interface ChannelsCommands {
  "channel.archive": { readonly channelId: ChannelId };
  /** Finds the channel's first message again after messages were moved or deleted. */
  "channel.find-first-message": { readonly channelId: ChannelId };
  "channel.create": ChannelCreate;
  "channel.update": ChannelUpdate;
  "channels.announce-inactive": InactivityCheck;
  "topic-deletion.request": TopicDeletionRequest;
}

/** Their replies, by type; other commands reply without fields. */
export interface ChannelsReplies {
  readonly "channel.create": ResultOf<typeof createChannel>;
  readonly "topic-deletion.request": ResultOf<typeof deleteTopic>;
}

export const channelsArea = defineArea({
  endpoints: [
    createChannel,
    getStreams,
    getChannel,
    getChannelId,
    updateChannel,
    getChannelEmail,
    createBigBlueButtonCall,
    archiveChannel,
    deleteTopic,
  ],
  commands: defineCommands<ChannelsCommands, ChannelsReplies>(),
  state: { stream: { streams: Type.Array(Channel) } },
  tables: {
    channels: defineTable<ChannelId, ChannelRecord>({
      fields: [
        "id",
        "recipientId",
        "name",
        "description",
        "renderedDescription",
        "creatorId",
        "createdAt",
        "isPrivate",
        "isWebPublic",
        "isHistoryPublic",
        "isDefault",
        "isArchived",
        "messageRetentionDays",
        "folderId",
        "topicsPolicy",
        "firstMessageId",
        "groups",
      ],
      dates: ["createdAt"],
    }),
    /**
     * Users with an event queue to whom a channel became visible later, by a subscription, a group, a role, or a change
     * of its privacy.
     */
    channelVisibility: defineTable<readonly [channelId: ChannelId, userId: UserId], ChannelVisibilityRecord>({
      fields: ["sincePosition"],
    }),
  },
  counters: [
    "channel",
    "recipient",
    /** Milliseconds: inactive channels have been announced up to this time. */
    "inactivityTold",
  ],
  limits,
});
