/**
 * Decides which users get an email about a message, and why (spec 2.3; D31; as in Zulip). It is evaluated for absent
 * users when the message is sent, and again when the email is due, so later settings count.
 */
import type { ChannelId, UserId } from "../schemas/ids.ts";
import { limits } from "../schemas/limits.ts";
import type { MailReason } from "../schemas/mails.ts";
import { hasTrait } from "../schemas/message-traits.ts";
import type { MessageRecord } from "../schemas/messages.ts";
import { type SubscriptionRecord, subscriptionNotificationNames } from "../schemas/subscriptions.ts";
import { userSetting } from "../schemas/user-settings.ts";
import { topicPolicies } from "../schemas/user-topics.ts";
import type { UserRecord } from "../schemas/users.ts";
import { isMentioned } from "./message-flags.ts";
import { hasMuted } from "./muted-users.ts";
import { isTopicMuted, visibilityPolicy } from "./topics.ts";
import type { View } from "./view.ts";

/** A message and its conversation. */
export interface MessageInConversation {
  readonly message: MessageRecord;
  /** null for a direct conversation. */
  readonly channelId: ChannelId | null;
  /** "" in a direct conversation. */
  readonly topic: string;
  /** Participants of a direct conversation; null in channels. */
  readonly userIds: readonly UserId[] | null;
  /** Users who had written in the topic, if the message mentions them. */
  readonly participantIds: readonly UserId[];
}

/** Active users get no emails about messages (public API: presence). Idle users count as away. */
export function isAway(view: View, userId: UserId): boolean {
  const activeAt = view.presence(userId)?.activeAt ?? null;
  return activeAt === null || view.now - activeAt >= limits.presence_offline_threshold_s * 1000;
}

/** Returns null if the message is not worth an email. Whether it was read is checked separately. */
export function mailReason(view: View, user: UserRecord, placed: MessageInConversation): MailReason | null {
  const { message, channelId, userIds } = placed;
  if (!user.isActive || user.botType !== null || message.senderId === user.id) return null;
  if (hasMuted(view, user.id, message.senderId)) return null;
  if (channelId === null) return userIds?.includes(user.id) === true && wantsPersonal(user) ? "direct" : null;
  const subscription = view.subscriptions.get(user.id, channelId);
  return subscription?.isActive === true ? channelReason(view, user, placed, subscription) : null;
}

/** One setting covers everything addressed to the user. */
function wantsPersonal(user: UserRecord): boolean {
  return userSetting(user, "enable_offline_email_notifications");
}

/**
 * Mentions by name also count in muted conversations; wildcards only if the conversation is not muted, or is followed.
 */
function channelReason(
  view: View,
  user: UserRecord,
  { message, channelId, topic, participantIds }: MessageInConversation,
  subscription: SubscriptionRecord,
): MailReason | null {
  const place = [view, user.id, channelId ?? 0, topic] as const;
  if (wantsPersonal(user)) {
    if (isMentioned(view, user, message)) {
      return message.mentionedUserIds.includes(user.id) ? "mention" : "group-mention";
    }
    const mentionsTopic = hasTrait(message.traits, "mentionsTopic") && participantIds.includes(user.id);
    const mentionsChannel = hasTrait(message.traits, "mentionsChannel");
    if ((mentionsTopic || mentionsChannel) && wantsWildcards(user, subscription, place)) {
      return mentionsTopic ? "topic-mention" : "channel-mention";
    }
  }
  if (userSetting(user, "enable_followed_topic_email_notifications") && isFollowed(...place)) return "followed-topic";
  const wantsChannel = setting(subscription, "email_notifications", () =>
    userSetting(user, "enable_stream_email_notifications"),
  );
  return wantsChannel && !isTopicMuted(...place) ? "channel" : null;
}

type TopicOf = readonly [view: View, userId: UserId, channelId: ChannelId, topic: string];

function wantsWildcards(user: UserRecord, subscription: SubscriptionRecord, place: TopicOf): boolean {
  if (userSetting(user, "enable_followed_topic_wildcard_mentions_notify") && isFollowed(...place)) return true;
  const isWanted = setting(subscription, "wildcard_mentions_notify", () =>
    userSetting(user, "wildcard_mentions_notify"),
  );
  return isWanted && !isTopicMuted(...place);
}

function isFollowed(...place: TopicOf): boolean {
  return visibilityPolicy(...place) === topicPolicies.followed;
}

/** The setting for the channel, else the user's general one. */
function setting(
  subscription: SubscriptionRecord,
  name: (typeof subscriptionNotificationNames)[number],
  fallback: () => boolean,
): boolean {
  return subscription.notifications[subscriptionNotificationNames.indexOf(name)] ?? fallback();
}
