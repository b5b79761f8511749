/**
 * Topics that are followed or unmuted by themselves (spec 2.3; public API: send-message, add-reaction): for whoever starts a topic,
 * writes or reacts in it, as their settings say, and for whoever is mentioned by name. A setting only ever shows more: what is
 * followed stays so, and of both, following wins. A mention leaves alone what its person has muted. Bots have no policies, and groups
 * and wildcards, which may mean everybody, make nobody follow, as on the public server.
 */
import { limits } from "../../schemas/limits.ts";
import type { ChannelRecord, UserRecord } from "../../schemas/records.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import { canReadChannelMessage } from "../../src/domain/permissions.ts";
import { type TopicPolicy, topicPolicies, visibilityPolicy } from "../../src/domain/user-topics.ts";
import type { View } from "../../src/domain/view.ts";
import type { Effect } from "../effects.ts";
import { hasRoomForTopic, type TopicPlace, topicPolicyEffects } from "../user/user-topics.ts";
import type { Posted } from "./post-consequences.ts";

const { muted, unmuted, followed } = topicPolicies;

/** Values of the two settings by what somebody does: who starts a topic also writes, and who writes takes part. */
const meant = { reacts: [1], writes: [1, 2], starts: [1, 2, 3] } as const satisfies Record<string, readonly number[]>;
const onStartOnly = 3;

export interface AutomaticPolicies {
  readonly effects: readonly Effect[];
  /** What the topic is to the sender from now on; null: what it was (public API: automatic_new_visibility_policy). */
  readonly ofSender: TopicPolicy | null;
}

/** What posting does to the sender and to those who are mentioned. @param conversationId null: the topic begins with the message */
export function policiesAfterPost(posted: Posted, conversationId: number | null, view: View): AutomaticPolicies {
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

/** What reacting does: it is taking part (public API: automatically_follow_topics_policy). */
export function policiesAfterReaction(view: View, user: UserRecord, channel: ChannelRecord, topic: string): Effect[] {
  const place = { channelId: channel.id, topic };
  const policy = raisedPolicy(view, user, place, meant.reacts);
  return policy === null || !hasRoom(view, user.id, place) ? [] : topicPolicyEffects(view, user.id, place, policy);
}

function ownPolicy(
  view: View,
  sender: UserRecord,
  channel: ChannelRecord,
  place: TopicPlace,
  conversationId: number | null,
): TopicPolicy | null {
  // Whether somebody starts a topic is looked at for those alone to whom it makes a difference.
  const asks =
    userSetting(sender, "automatically_follow_topics_policy") === onStartOnly ||
    userSetting(sender, "automatically_unmute_topics_in_muted_streams_policy") === onStartOnly;
  const isStart = asks && !isKnownTo(view, sender, channel, conversationId);
  return raisedPolicy(view, sender, place, isStart ? meant.starts : meant.writes);
}

/** Whether a topic has messages for the sender: in protected history others' are none, and nothing is learned of them (S1). */
function isKnownTo(view: View, sender: UserRecord, channel: ChannelRecord, conversationId: number | null): boolean {
  if (conversationId === null) return false;
  if (channel.isHistoryPublic || !channel.isPrivate) return true;
  const stays = view.subscriptions.get(sender.id, channel.id)?.stays ?? [];
  return stays.some(({ joinedAfterId, leftAtId }) => {
    const start = [conversationId, joinedAfterId + 1];
    const end = [conversationId, (leftAtId ?? view.counter("message")) + 1];
    return view.keys("conversationMessages", { start, end, limit: 1 }).length > 0;
  });
}

/** null: the settings ask for nothing more than there is. */
function raisedPolicy(view: View, user: UserRecord, place: TopicPlace, values: readonly number[]): TopicPolicy | null {
  if (user.botType !== null) return null;
  const before = visibilityPolicy(view, user.id, place.channelId, place.topic);
  if (before === followed) return null;
  if (values.includes(userSetting(user, "automatically_follow_topics_policy"))) return followed;
  const unmutes = values.includes(userSetting(user, "automatically_unmute_topics_in_muted_streams_policy"));
  return unmutes && before !== unmuted && isChannelMuted(view, user.id, place.channelId) ? unmuted : null;
}

function isChannelMuted(view: View, userId: number, channelId: number): boolean {
  return (
    view.subscriptions.isSubscribed(userId, channelId) && view.subscriptions.get(userId, channelId)?.isMuted === true
  );
}

/**
 * Ids of those whom a mention by name makes follow; nobody where so many are named that it is a wildcard by other means (S3).
 * Who cannot read the message is not told the topic's name by it (S1).
 */
function whoFollowsWhereMentioned(
  view: View,
  messageId: number,
  channel: ChannelRecord,
  place: TopicPlace,
  userIds: readonly number[],
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

/** Another policy for a topic that has one takes no room. */
function hasRoom(view: View, userId: number, { channelId, topic }: TopicPlace): boolean {
  return visibilityPolicy(view, userId, channelId, topic) !== topicPolicies.none || hasRoomForTopic(view, userId);
}
