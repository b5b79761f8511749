/**
 * Automatic follow and unmute policies (spec 2.3; public API: send-message, add-reaction) for users who start a topic,
 * post or react in it, and for users mentioned by name. A policy is never lowered: followed topics stay followed, and
 * following wins over unmuting. A mention does not change a topic that the user has muted. Bots have no policies. Group
 * and wildcard mentions change no policy, as on the public server.
 */

import { canReadChannelMessage } from "../../domain/permissions.ts";
import { visibilityPolicy } from "../../domain/user-topics.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import type { ChannelId, ConversationId, MessageId, UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import { type TopicPolicy, topicPolicies } from "../../schemas/user-topics.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Effect } from "../protocol/effects.ts";
import { type TopicAddress, topicPolicyEffects } from "../rules/user-topics.ts";
import type { Posted } from "./context.ts";

const { muted, unmuted, followed } = topicPolicies;

/**
 * Values of the two settings that apply to each action: starting a topic includes posting, and posting includes
 * participating.
 */
const meant = { reacts: [1], writes: [1, 2], starts: [1, 2, 3] } as const satisfies Record<string, readonly number[]>;
const onStartOnly = 3;

export interface AutomaticPolicies {
  readonly effects: readonly Effect[];
  /** The sender's new policy for the topic; null: unchanged (public API: automatic_new_visibility_policy). */
  readonly ofSender: TopicPolicy | null;
}

/**
 * Policy changes of the sender and the mentioned users after a post.
 * @param conversationId null: the message starts the topic
 */
export function policiesAfterPost(
  posted: Posted,
  conversationId: ConversationId | null,
  view: View,
): AutomaticPolicies {
  const { message, sender, channel, topic, rendered } = posted;
  if (channel === null) return { effects: [], ofSender: null };
  const place = { channelId: channel.id, topic };
  const mentioned = whoFollowsWhereMentioned(view, message.id, channel, place, rendered.mentionedUserIds);
  const own = mentioned.includes(sender.id) ? followed : ownPolicy(view, sender, channel, place, conversationId);
  const others = mentioned.filter((id) => id !== sender.id);
  const isOwnChanged = own !== null && hasRoom(view, sender.id, place);
  return {
    effects: [
      ...(isOwnChanged ? topicPolicyEffects(view, sender.id, place, own) : []),
      ...others.flatMap((id) => (hasRoom(view, id, place) ? topicPolicyEffects(view, id, place, followed) : [])),
    ],
    ofSender: isOwnChanged ? own : null,
  };
}

/** Policy change after a reaction, which counts as participating (public API: automatically_follow_topics_policy). */
export function policiesAfterReaction(view: View, user: UserRecord, channel: ChannelRecord, topic: string): Effect[] {
  const place = { channelId: channel.id, topic };
  const policy = raisedPolicy(view, user, place, meant.reacts);
  return policy === null || !hasRoom(view, user.id, place) ? [] : topicPolicyEffects(view, user.id, place, policy);
}

function ownPolicy(
  view: View,
  sender: UserRecord,
  channel: ChannelRecord,
  place: TopicAddress,
  conversationId: ConversationId | null,
): TopicPolicy | null {
  // Whether the sender starts the topic is checked only if their settings depend on it.
  const asks =
    userSetting(sender, "automatically_follow_topics_policy") === onStartOnly ||
    userSetting(sender, "automatically_unmute_topics_in_muted_streams_policy") === onStartOnly;
  const isStart = asks && !canSeeAnyMessage(view, sender, channel, conversationId);
  return raisedPolicy(view, sender, place, isStart ? meant.starts : meant.writes);
}

/**
 * Whether the sender can see any message of the topic. In protected history, messages they did not receive are ignored,
 * so the result reveals nothing about them (S1).
 */
function canSeeAnyMessage(
  view: View,
  sender: UserRecord,
  channel: ChannelRecord,
  conversationId: ConversationId | null,
): boolean {
  if (conversationId === null) return false;
  if (channel.isHistoryPublic || !channel.isPrivate) return true;
  const periods = view.subscriptions.get(sender.id, channel.id)?.periods ?? [];
  return periods.some(({ joinedAfterId, leftAtId }) => {
    const start = [conversationId, joinedAfterId + 1];
    const end = [conversationId, (leftAtId ?? view.counter("message")) + 1];
    return view.keys("conversationMessages", { start, end, limit: 1 }).length > 0;
  });
}

/** null: the settings require no higher policy. */
function raisedPolicy(
  view: View,
  user: UserRecord,
  place: TopicAddress,
  values: readonly number[],
): TopicPolicy | null {
  if (user.botType !== null) return null;
  const before = visibilityPolicy(view, user.id, place.channelId, place.topic);
  if (before === followed) return null;
  if (values.includes(userSetting(user, "automatically_follow_topics_policy"))) return followed;
  const unmutes = values.includes(userSetting(user, "automatically_unmute_topics_in_muted_streams_policy"));
  return unmutes && before !== unmuted && isChannelMuted(view, user.id, place.channelId) ? unmuted : null;
}

function isChannelMuted(view: View, userId: UserId, channelId: ChannelId): boolean {
  return (
    view.subscriptions.isSubscribed(userId, channelId) && view.subscriptions.get(userId, channelId)?.isMuted === true
  );
}

/**
 * Ids of users who follow the topic because they are mentioned by name. None if so many are named that it amounts to a
 * wildcard (S3). Users who cannot read the message are excluded, because the policy would reveal the topic's name (S1).
 */
function whoFollowsWhereMentioned(
  view: View,
  messageId: MessageId,
  channel: ChannelRecord,
  place: TopicAddress,
  userIds: readonly UserId[],
): readonly number[] {
  if (userIds.length > limits.mention_follows_per_message_max) return [];
  return userIds.filter((id) => {
    const user = view.users.get(id);
    if (user === undefined || !user.isActive || user.botType !== null) return false;
    if (!userSetting(user, "automatically_follow_topics_where_mentioned")) return false;
    const before = visibilityPolicy(view, id, place.channelId, place.topic);
    return before !== muted && before !== followed && canReadChannelMessage(view, user, channel, messageId);
  });
}

/** Replacing an existing policy needs no room. */
function hasRoom(view: View, userId: UserId, { channelId, topic }: TopicAddress): boolean {
  return visibilityPolicy(view, userId, channelId, topic) !== topicPolicies.none || view.hasTopicRoom(userId);
}
