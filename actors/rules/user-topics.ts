/**
 * Users' policies for topics (public API: update-user-topic): set by the user, set automatically (follow topics one
 * participates in), or moved with a whole topic. A policy has two rows: by user, for the user's clients; by topic, to
 * find its followers.
 */

import { seconds } from "../../domain/presence.ts";
import type { View } from "../../domain/view.ts";
import { fold } from "../../schemas/fold.ts";
import type { ChannelId, UserId } from "../../schemas/ids.ts";
import { type TopicPolicy, topicPolicies } from "../../schemas/user-topics.ts";
import { type Effect, effects } from "../protocol/decision.ts";

/** A topic in a channel, in any spelling. */
export interface TopicAddress {
  readonly channelId: ChannelId;
  readonly topic: string;
}

/** Rows and events of a user's new policy; none if it is unchanged. The caller has checked `hasTopicRoom` (S3) */
export function topicPolicyEffects(view: View, userId: UserId, place: TopicAddress, policy: TopicPolicy): Effect[] {
  const before = view.row("userTopics", [userId, place.channelId, fold(place.topic)]);
  const beforePolicy = before?.visibilityPolicy ?? topicPolicies.none;
  if (beforePolicy === policy) return [];
  // The spelling that the user's clients have.
  const topic = before?.topic ?? place.topic;
  const change: PolicyChange = { userIds: [userId], place: { ...place, topic }, policy };
  return [
    ...topicPolicyRows(view, userId, { ...place, topic }, policy),
    ...(beforePolicy === topicPolicies.muted || policy === topicPolicies.muted ? [mutedTopicsEvent([userId])] : []),
    userTopicEvent(view, change),
  ];
}

/** The two rows of a policy, or their removal. */
export function topicPolicyRows(view: View, userId: UserId, { channelId, topic }: TopicAddress, policy: TopicPolicy) {
  const folded = fold(topic);
  if (policy === topicPolicies.none) {
    return [
      effects.remove("userTopics", [userId, channelId, folded]),
      effects.remove("topicPolicies", [channelId, folded, userId]),
    ];
  }
  return [
    effects.put("userTopics", [userId, channelId, folded], { topic, visibilityPolicy: policy, changedAt: view.now }),
    effects.put("topicPolicies", [channelId, folded, userId], { visibilityPolicy: policy }),
  ];
}

export interface PolicyChange {
  readonly userIds: readonly UserId[];
  readonly place: TopicAddress;
  readonly policy: TopicPolicy;
}

/** The users' new policy for a topic (behaviour 4.4). */
export function userTopicEvent(view: View, { userIds, place, policy }: PolicyChange): Effect {
  const body = {
    stream_id: place.channelId,
    topic_name: place.topic,
    last_updated: seconds(view.now),
    visibility_policy: policy,
  };
  return effects.emit("user_topic", body, { to: "users", ids: userIds });
}

/** For older clients: the whole list, read on delivery. */
export function mutedTopicsEvent(userIds: readonly UserId[]): Effect {
  return effects.emit("muted_topics", {}, { to: "users", ids: userIds });
}
