/**
 * What people think of topics (public API: update-user-topic): set by themselves, by policies of theirs (follow what one takes part
 * in), and carried along when a whole topic moves. A policy is two rows: by person, for them and their clients; by topic, for
 * who follows it.
 */
import { refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import type { ChannelRecord } from "../../schemas/records.ts";
import { hasContentAccess } from "../../src/domain/permissions.ts";
import { seconds } from "../../src/domain/presence.ts";
import { type TopicPolicy, topicPolicies, visibilityPolicy } from "../../src/domain/user-topics.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";

/** A topic of a channel, by any spelling. */
export interface TopicPlace {
  readonly channelId: number;
  readonly topic: string;
}

/**
 * POST /user_topics. A policy can be taken back wherever one was set, also in a channel that one may not know any more; it is
 * set only where one may read, and not in archived channels.
 */
export function setUserTopic(_context: unknown, asked: Command<"user-topics.set">, view: View): Outcome {
  const user = callerOf(asked, view);
  if (user === null) return refuse.noSuchUser();
  const { topic, policy, unknown } = asked.params;
  const channel = channelOf(view, asked.params.channel);
  if (channel === undefined) return unknown;
  const before = visibilityPolicy(view, user.id, channel.id, topic);
  const isTakenBack = policy === topicPolicies.none && before !== topicPolicies.none;
  const isOpen = hasContentAccess(view, user, channel) && (policy === topicPolicies.none || !channel.isArchived);
  if (!isTakenBack && !isOpen) return unknown;
  const isNew = before === topicPolicies.none && policy !== topicPolicies.none;
  if (isNew && !hasRoomForTopic(view, user.id)) return refuse.badRequest("Too many topics");
  return done({}, topicPolicyEffects(view, user.id, { channelId: channel.id, topic }, policy));
}

function channelOf(view: View, channel: number | string): ChannelRecord | undefined {
  return typeof channel === "number" ? view.channels.get(channel) : view.channels.byName(channel.trim());
}

/** Whether a person may have a policy for one more topic (S3); what a setting would follow beyond that is not followed. */
export function hasRoomForTopic(view: View, userId: number): boolean {
  const limit = limits.user_topics_per_user_max;
  return view.keys("userTopics", { start: [userId], end: [userId + 1], limit }).length < limit;
}

/** Rows and events of one person's new policy; none when it is the policy already. Who calls has looked at `hasRoomForTopic`. */
export function topicPolicyEffects(view: View, userId: number, place: TopicPlace, policy: TopicPolicy): Effect[] {
  const before = view.row("userTopics", [userId, place.channelId, fold(place.topic)]);
  const beforePolicy = before?.visibilityPolicy ?? topicPolicies.none;
  if (beforePolicy === policy) return [];
  // The spelling that the person's clients know.
  const topic = before?.topic ?? place.topic;
  const toldOf: Told = { userIds: [userId], place: { ...place, topic }, policy };
  return [
    ...topicPolicyRows(view, userId, { ...place, topic }, policy),
    ...(beforePolicy === topicPolicies.muted || policy === topicPolicies.muted ? [mutedTopicsEvent([userId])] : []),
    userTopicEvent(view, toldOf),
  ];
}

/** The two rows of a policy, or the end of both. */
export function topicPolicyRows(view: View, userId: number, { channelId, topic }: TopicPlace, policy: TopicPolicy) {
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

export interface Told {
  readonly userIds: readonly number[];
  readonly place: TopicPlace;
  readonly policy: TopicPolicy;
}

/** What these people's policy for a topic is from now on (behaviour 4.4). */
export function userTopicEvent(view: View, { userIds, place, policy }: Told): Effect {
  const body = {
    stream_id: place.channelId,
    topic_name: place.topic,
    last_updated: seconds(view.now),
    visibility_policy: policy,
  };
  return effects.emit("user_topic", body, { to: "users", ids: userIds });
}

/** For older clients: the whole list, as it is when it is delivered. */
export function mutedTopicsEvent(userIds: readonly number[]): Effect {
  return effects.emit("muted_topics", {}, { to: "users", ids: userIds });
}
