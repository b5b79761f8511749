/**
 * Whom a message reaches by mail, and why (spec 2.3; D31; behaviour of the public server). The same question is asked when the
 * message comes, of who is away, and again when the mail falls due: what was set meanwhile counts.
 */
import { limits } from "../../schemas/limits.ts";
import type { MailReason } from "../../schemas/mails.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { MessageRecord, SubscriptionRecord, UserRecord } from "../../schemas/records.ts";
import { subscriptionNotificationNames } from "../../schemas/subscriptions.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import { isMentioned } from "./message-flags.ts";
import { hasMuted } from "./muted-users.ts";
import { isTopicMuted, topicPolicies, visibilityPolicy } from "./user-topics.ts";
import type { View } from "./view.ts";

/** A message and where it is. */
export interface Placed {
  readonly message: MessageRecord;
  /** null: a direct conversation. */
  readonly channelId: number | null;
  /** "" in a direct conversation. */
  readonly topic: string;
  /** Participants of a direct conversation; null in channels. */
  readonly userIds: readonly number[] | null;
  /** Who had written in the topic, where the message calls them. */
  readonly participantIds: readonly number[];
}

/** Nobody who is active gets mails about messages (public API: presence). Who is idle is away. */
export function isAway(view: View, userId: number): boolean {
  const activeAt = view.presence(userId)?.activeAt ?? null;
  return activeAt === null || view.now - activeAt >= limits.presence_offline_threshold_s * 1000;
}

/** null: the message is none to write a mail about. Whether it was read is another question. */
export function mailReason(view: View, user: UserRecord, placed: Placed): MailReason | null {
  const { message, channelId, userIds } = placed;
  if (!user.isActive || user.botType !== null || message.senderId === user.id) return null;
  if (hasMuted(view, user.id, message.senderId)) return null;
  if (channelId === null) return userIds?.includes(user.id) === true && wantsPersonal(user) ? "direct" : null;
  const subscription = view.subscriptions.get(user.id, channelId);
  return subscription?.isActive === true ? channelReason(view, user, placed, subscription) : null;
}

/** One switch for everything that is addressed to the person. */
function wantsPersonal(user: UserRecord): boolean {
  return userSetting(user, "enable_offline_email_notifications");
}

/** Mentions by name reach somebody in muted places, too; wildcards only where they are not muted, or followed. */
function channelReason(
  view: View,
  user: UserRecord,
  { message, channelId, topic, participantIds }: Placed,
  subscription: SubscriptionRecord,
): MailReason | null {
  const place = [view, user.id, channelId ?? 0, topic] as const;
  if (wantsPersonal(user)) {
    if (isMentioned(view, user, message)) {
      return message.mentionedUserIds.includes(user.id) ? "mention" : "group-mention";
    }
    const callsTopic = hasTrait(message.traits, "mentionsTopic") && participantIds.includes(user.id);
    const callsChannel = hasTrait(message.traits, "mentionsChannel");
    if ((callsTopic || callsChannel) && wantsWildcards(user, subscription, place)) {
      return callsTopic ? "topic-mention" : "channel-mention";
    }
  }
  if (userSetting(user, "enable_followed_topic_email_notifications") && isFollowed(...place)) return "followed-topic";
  const wantsChannel = setting(subscription, "email_notifications", () =>
    userSetting(user, "enable_stream_email_notifications"),
  );
  return wantsChannel && !isTopicMuted(...place) ? "channel" : null;
}

type TopicOf = readonly [view: View, userId: number, channelId: number, topic: string];

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

/** What is set for the channel, else the person's own. */
function setting(
  subscription: SubscriptionRecord,
  name: (typeof subscriptionNotificationNames)[number],
  fallback: () => boolean,
): boolean {
  return subscription.notifications[subscriptionNotificationNames.indexOf(name)] ?? fallback();
}
