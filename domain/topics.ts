/**
 * Topic names: which topic a client means, and the display name of the empty one (spec 2.4, 2.9, level 334; behaviour
 * 1.8, 5.1).
 *
 * Users' visibility policies of topics (public API: update-user-topic; behaviour 8): muted, unmuted in a muted
 * channel, followed. Topics are compared case-insensitively. A policy is kept when its user leaves the channel and
 * when the channel is archived; it moves with the topic if the whole topic moves.
 */
import { type Refusal, refuse } from "../schemas/errors.ts";
import { fold } from "../schemas/fold.ts";
import type { ChannelId, UserId } from "../schemas/ids.ts";
import { limits } from "../schemas/limits.ts";
import { type TopicPolicy, topicPolicies } from "../schemas/user-topics.ts";
import type { UserRecord } from "../schemas/users.ts";
import { hasContentAccess } from "./permissions.ts";
import { seconds } from "./presence.ts";
import { realmSetting } from "./realm-settings.ts";
import { codePoints, truncate, unprintablePosition } from "./text.ts";
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

interface TopicHolder {
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
interface UserTopicBody {
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

export function emptyTopicName(view: View): string {
  return realmSetting(view, "empty_topic_display_name");
}

/**
 * Topics that are too long are truncated and not rejected, in every request: so a stored name fits into a key, and the
 * full name still finds it.
 */
export function cutTopic(topic: string): string {
  const isLong = codePoints(topic) > limits.topic_code_points_max;
  return isLong ? `${truncate(topic, limits.topic_code_points_max - 3)}...` : topic;
}

/** The topic that a client means: trimmed and truncated, with the empty topic's display names read as empty. */
export function topicFor(view: View, topic: string): string {
  return cutTopic(namedTopic(view, topic));
}

/** The same without truncation. */
export function namedTopic(view: View, topic: string): string {
  const trimmed = topic.trim();
  return trimmed === emptyTopicName(view) || trimmed === "(no topic)" ? "" : trimmed;
}

/**
 * Why the topic may not have this name, or null. Users who can read the channel may use the name of a topic that exists:
 * an import may have brought one that no new topic gets.
 */
export function checkTopicName(view: View, user: UserRecord, channelId: ChannelId, topic: string): Refusal | null {
  const position = unprintablePosition(topic);
  if (position === 0) return null;
  const channel = view.channels.get(channelId);
  const isKnown = channel !== undefined && hasContentAccess(view, user, channel);
  if (isKnown && view.row("topicNames", [channelId, fold(topic)]) !== undefined) return null;
  return refuse.badRequest(`Invalid character in topic, at position ${position}!`);
}

/** The empty topic has a display name for clients that do not support it. */
export function shownTopic(view: View, topic: string, allowsEmpty: boolean): string {
  return topic === "" && !allowsEmpty ? emptyTopicName(view) : topic;
}
