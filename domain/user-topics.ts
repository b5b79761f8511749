/**
 * Users' visibility policies of topics (public API: update-user-topic; behaviour 8): muted, unmuted in a muted channel,
 * followed. Topics are compared case-insensitively. A policy is kept when its user leaves the channel and when the
 * channel is archived; it moves with the topic if the whole topic moves.
 */

import { fold } from "../schemas/fold.ts";
import type { ChannelId, UserId } from "../schemas/ids.ts";
import { limits } from "../schemas/limits.ts";
import { type TopicPolicy, topicPolicies } from "../schemas/user-topics.ts";
import { seconds } from "./presence.ts";
import { shownTopic } from "./topics.ts";
import type { View } from "./view.ts";

const policies: readonly TopicPolicy[] = Object.values(topicPolicies);

/** A user's policy for a topic, by any spelling of its name. O(1): one row. */
export function visibilityPolicy(view: View, userId: UserId, channelId: ChannelId, topic: string): TopicPolicy {
  return policyOf(view.row("userTopics", [userId, channelId, fold(topic)])?.visibilityPolicy);
}

/** Whether a topic is muted for a user: by itself, or by its channel unless it is unmuted or followed (behaviour 8). */
export function isTopicMuted(view: View, userId: UserId, channelId: ChannelId, topic: string): boolean {
  const policy = visibilityPolicy(view, userId, channelId, topic);
  if (policy !== topicPolicies.none) return policy === topicPolicies.muted;
  return view.subscriptions.get(userId, channelId)?.isMuted === true;
}

export interface TopicHolder {
  readonly userId: UserId;
  readonly policy: TopicPolicy;
}

/** Users with a policy for the topic, ascending, after `afterUserId`, at most `limit`. */
export function topicHolders(
  view: View,
  channelId: ChannelId,
  topic: string,
  { afterUserId, limit }: { readonly afterUserId: UserId; readonly limit: number },
): readonly TopicHolder[] {
  const folded = fold(topic);
  const few = view.topicPoliciesOf(channelId, folded);
  if (few !== null) {
    const page = few.filter(({ userId }) => userId > afterUserId).slice(0, limit);
    return page.map(({ userId, visibilityPolicy }) => ({ userId, policy: policyOf(visibilityPolicy) }));
  }
  const range = { start: [channelId, folded, afterUserId + 1], end: [channelId, folded, Number.MAX_VALUE], limit };
  return view
    .rows("topicPolicies", range)
    .map(({ key, row }) => ({ userId: key[2], policy: policyOf(row.visibilityPolicy) }));
}

/** The policy of two merged topics: the more visible one wins, and the result is muted only if both were. */
export function mergedPolicy(one: TopicPolicy, other: TopicPolicy): TopicPolicy {
  if (one === other) return one;
  const { followed, unmuted, none } = topicPolicies;
  for (const policy of [followed, unmuted]) if (one === policy || other === policy) return policy;
  return none;
}

/** A row as clients see it (OpenAPI, register and event user_topic). */
export interface UserTopicBody {
  readonly stream_id: number;
  readonly topic_name: string;
  /** UNIX seconds. */
  readonly last_updated: number;
  readonly visibility_policy: TopicPolicy;
}

/** All policies of a user, by channel and topic. */
export function userTopicsOf(view: View, userId: UserId, allowsEmptyName: boolean): readonly UserTopicBody[] {
  const range = { start: [userId], end: [userId + 1], limit: limits.user_topics_per_user_max };
  return view.rows("userTopics", range).map(({ key, row }) => ({
    stream_id: key[1],
    topic_name: shownTopic(view, row.topic, allowsEmptyName),
    last_updated: seconds(row.changedAt),
    visibility_policy: row.visibilityPolicy,
  }));
}

function policyOf(value: number | undefined): TopicPolicy {
  return policies.find((policy) => policy === value) ?? topicPolicies.none;
}
