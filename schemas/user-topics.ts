/** A user's policies for topics (public API: update-user-topic, mute-topic). */

import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import type { Refusal } from "./errors.ts";
import type { ChannelId, MessageId, UserId } from "./ids.ts";
import { commonLimits } from "./limits/common.ts";
import { OtherId, OtherText } from "./person-marks.ts";
import { Id } from "./types.ts";

const limits = {
  user_topics_per_user_max: 5000,
  user_topics_per_command_max: 50,
  /** Users with a policy for a topic, cached in memory for the next post. */
  topic_policies_kept_max: 100,
} as const;

const Topic = Type.String({ maxLength: commonLimits.topic_code_points_max });

/** A user's policy for a topic, as the user sees it. */
export const UserTopic = Type.Object(
  {
    stream_id: OtherId,
    topic_name: OtherText,
    last_updated: Type.Integer(),
    visibility_policy: Type.Enum([0, 1, 2, 3]),
  },
  { title: "UserTopic" },
);

/** For older clients: channel name, topic, UNIX seconds. */
export const MutedTopics = Type.Array(Type.Array(Type.Union([OtherText, Type.Integer()])));

export const updateUserTopic = defineEndpoint({
  operationId: "update-user-topic",
  method: "POST",
  path: "/user_topics",
  authentication: "user",
  effectiveness: "durable",
  summary: "Mutes, unmutes or follows a topic, or removes the policy, for the caller only.",
  params: { stream_id: Id, topic: Topic, visibility_policy: Type.Enum([0, 1, 2, 3]) },
  ok: {},
  errors: [],
});

export const muteTopic = defineEndpoint({
  operationId: "mute-topic",
  method: "PATCH",
  path: "/users/me/subscriptions/muted_topics",
  authentication: "user",
  effectiveness: "durable",
  summary: "Mutes or unmutes a topic; deprecated in favor of update-user-topic.",
  params: {
    stream_id: Type.Optional(Id),
    stream: Type.Optional(Type.String()),
    topic: Topic,
    op: Type.Enum(["add", "remove"], { wire: "text" }),
  },
  ok: {},
  errors: [],
});

/** A user's policy for one topic (public API: update-user-topic). No row: no policy. */
export interface UserTopicRecord {
  /** The topic's spelling. */
  readonly topic: string;
  /** 1 muted, 2 unmuted, 3 followed. */
  readonly visibilityPolicy: 1 | 2 | 3;
  readonly changedAt: number;
}

/** The same policy, indexed by topic, to find its followers and the users affected by a move. */
export interface TopicPolicyRecord {
  readonly visibilityPolicy: 1 | 2 | 3;
}

/** A user's policy for one topic. The channel is given by id or by name. */
export interface UserTopicChange {
  readonly channel: number | string;
  readonly topic: string;
  readonly policy: TopicPolicy;
  /** The refusal to return if the channel does not exist or the caller may not see it. */
  readonly unknown: Refusal;
}

interface TopicAddress {
  readonly channelId: ChannelId;
  readonly topic: string;
}

/** The remaining work of moving users' topic policies with a whole topic. */
export interface TopicMove {
  readonly from: TopicAddress;
  readonly to: TopicAddress;
  /** The target already contained messages. */
  readonly isMerge: boolean;
  /** The policies being processed: first those on the target, then those on the source. */
  readonly phase: "target" | "source";
  readonly afterUserId: UserId;
}

/** The remaining work of removing users' policies for a deleted topic. */
export interface TopicEnd {
  readonly place: TopicAddress;
  /** The oldest and the newest deleted message: a user who received either one has seen the topic. */
  readonly messageIds: readonly MessageId[];
  /**
   * When the last message was deleted, in milliseconds. A policy that was set later belongs to a new topic of the same
   * name.
   */
  readonly at: number;
  readonly afterUserId: UserId;
}

export const topicPolicies = { none: 0, muted: 1, unmuted: 2, followed: 3 } as const;

export type TopicPolicy = (typeof topicPolicies)[keyof typeof topicPolicies];

/** Parameters of its commands, by type. */
export interface UserTopicsCommands {
  "user-topics.set": UserTopicChange;
  "user-topics.move": TopicMove;
  "user-topics.end": TopicEnd;
}

export const userTopicsArea = defineArea({
  endpoints: [updateUserTopic, muteTopic],
  commands: defineCommands<UserTopicsCommands>(),
  state: { user_topic: { user_topics: Type.Array(UserTopic) }, muted_topics: { muted_topics: MutedTopics } },
  tables: {
    userTopics: defineTable<readonly [userId: UserId, channelId: ChannelId, foldedTopic: string], UserTopicRecord>({
      fields: ["topic", "visibilityPolicy", "changedAt"],
      dates: ["changedAt"],
    }),
    topicPolicies: defineTable<readonly [channelId: ChannelId, foldedTopic: string, userId: UserId], TopicPolicyRecord>(
      {
        fields: ["visibilityPolicy"],
      },
    ),
  },
  limits,
});
