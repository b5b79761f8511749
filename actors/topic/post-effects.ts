/**
 * Further effects of a posted message besides its rows and its event. Each consequence sees the post and the state
 * before it. The effects follow the `message` event.
 *
 * Finds users who should notice a message although it does not mention them by name: alert words, `@topic` mentions,
 * and bots that receive it because they are mentioned (schemas/messages.ts). Computed when the message is posted or
 * edited.
 *
 * Permission to mention everybody in a channel or topic (public API: send-message, update-message; behaviour 5.1).
 *
 * Automatic follow and unmute policies (spec 2.3; public API: send-message, add-reaction) for users who start a topic,
 * post or react in it, and for users mentioned by name. A policy is never lowered: followed topics stay followed, and
 * following wins over unmuting. A mention does not change a topic that the user has muted. Bots have no policies.
 * Group and wildcard mentions change no policy, as on the public server.
 */
import { isRecentlyActive } from "../../domain/channels.ts";
import type { RenderedContent } from "../../domain/markdown/render.ts";
import { canReadChannelMessage, hasContentAccess, hasRealmPermission } from "../../domain/permissions.ts";
import { redactor } from "../../domain/redaction.ts";
import { visibilityPolicy } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import { botTypes } from "../../schemas/bots.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { ChannelId, ConversationId, MessageId, UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { MessageAlertsRecord } from "../../schemas/messages.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import { type TopicPolicy, topicPolicies } from "../../schemas/user-topics.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { webhookTriggers } from "../../schemas/webhooks.ts";
import { command, type Effect, effects } from "../protocol/decision.ts";
import { updateBody, watchers } from "../rules/channel-events.ts";
import { linkAttachments } from "../rules/message-rows.ts";
import { rememberMissed } from "../rules/missed-messages.ts";
import { followOwnPosts } from "../rules/read-watermarks.ts";
import { type TopicAddress, topicPolicyEffects } from "../rules/user-topics.ts";
import { reportFailureToOwner } from "../rules/webhook-reports.ts";
import type { Posted } from "./context.ts";

const { muted, unmuted, followed } = topicPolicies;

/**
 * Values of the two settings that apply to each action: starting a topic includes posting, and posting includes
 * participating.
 */
const meant = { reacts: [1], writes: [1, 2], starts: [1, 2, 3] } as const satisfies Record<string, readonly number[]>;
const onStartOnly = 3;

interface AutomaticPolicies {
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

/** Up to this many users may be mentioned by anybody. */
const freeWildcardPeople = 15;

/** @param conversationId id of the topic; null: the message starts it */
export function checkWildcards(
  view: View,
  sender: UserRecord,
  {
    rendered,
    channel,
    conversationId,
  }: { rendered: RenderedContent; channel: ChannelRecord; conversationId: ConversationId | null },
): Refusal | null {
  const { hasChannelWildcard, hasTopicWildcard } = rendered;
  if (!hasChannelWildcard && !hasTopicWildcard) return null;
  if (hasRealmPermission(view, sender, "can_mention_many_users_group")) return null;
  if (hasChannelWildcard && view.subscriptions.ofChannel(channel.id).size > freeWildcardPeople) {
    return refuse.channelWildcardNotAllowed();
  }
  const isLarge = hasTopicWildcard && participants(view, conversationId).size > freeWildcardPeople;
  return isLarge ? refuse.topicWildcardNotAllowed() : null;
}

interface Written {
  readonly content: string;
  readonly senderId: UserId;
  readonly mentionsTopic: boolean;
  /** null: the message starts the conversation. */
  readonly conversationId: ConversationId | null;
  readonly channelId: ChannelId | null;
  readonly userIds: readonly UserId[] | null;
  /** Bots that receive the message because they are mentioned. Decided on posting; an edit does not change it. */
  readonly mentionedBotIds: readonly UserId[];
}

/** null: there are none, as for nearly every message. */
export function alertsOf(view: View, written: Written): MessageAlertsRecord | null {
  const alertedUserIds = alerted(view, written);
  const { senderId, conversationId, mentionedBotIds } = written;
  const participantIds = written.mentionsTopic
    ? [...participants(view, conversationId).add(senderId)].sort((a, b) => a - b)
    : [];
  if (alertedUserIds.length + participantIds.length + mentionedBotIds.length === 0) return null;
  return { alertedUserIds, participantIds, mentionedBotIds: mentionedBotIds.length === 0 ? null : mentionedBotIds };
}

/**
 * Generic bots that are not subscribed to this public channel but are mentioned by name: they receive the message, as
 * on the public server. Other bots and users do not. Ids ascending.
 */
export function namedBots(view: View, channel: ChannelRecord, mentionedUserIds: readonly UserId[]): number[] {
  if (channel.isPrivate) return [];
  return mentionedUserIds.filter((id) => isMentionedBot(view, channel, id)).sort((a, b) => a - b);
}

function isMentionedBot(view: View, channel: ChannelRecord, userId: UserId): boolean {
  const user = view.users.get(userId);
  if (user?.botType !== botTypes.generic || !user.isActive) return false;
  return hasContentAccess(view, user, channel) && !view.subscriptions.isSubscribed(userId, channel.id);
}

/** Only users who receive the message are alerted. */
function alerted(view: View, { content, senderId, channelId, userIds }: Written): number[] {
  const found = view.alertWords.alertedBy(content);
  if (found.size === 0) return [];
  const receives = (id: number) =>
    userIds === null ? view.subscriptions.isSubscribed(id, channelId ?? 0) : userIds.includes(id);
  const asShown = new Map<string, ReadonlySet<number>>();
  const isShown = (id: number) => id === senderId || isAlertedByWhatIsShown(view, id, content, asShown);
  return [...found].filter((id) => receives(id) && isShown(id)).sort((a, b) => a - b);
}

/**
 * Restricted guests are alerted by the redacted text. Otherwise an alert word that occurs only in an invisible user's
 * name would confirm the guess (S1).
 * @param known cache of redacted texts and the users they alert
 */
function isAlertedByWhatIsShown(
  view: View,
  userId: UserId,
  content: string,
  known: Map<string, ReadonlySet<number>>,
): boolean {
  const user = view.users.get(userId);
  const shown = user === undefined ? content : (redactor(view, user)?.typed(content) ?? content);
  if (shown === content) return true;
  const alertedByIt = known.get(shown) ?? view.alertWords.alertedBy(shown);
  known.set(shown, alertedByIt);
  return alertedByIt.has(userId);
}

/**
 * Ids of users who posted in the topic, within a bounded number of its newest messages.
 * @param conversationId null: the topic has no messages yet
 */
function participants(view: View, conversationId: ConversationId | null): Set<number> {
  const senders = new Set<number>();
  const limit = limits.topic_participants_scanned_max;
  const range = {
    start: [conversationId ?? 0, Number.MAX_SAFE_INTEGER],
    end: [conversationId ?? 0],
    reverse: true,
    limit,
  };
  for (const { row } of view.rows("conversationMessages", range)) senders.add(row.senderId);
  return senders;
}

/**
 * Selects the messages that trigger an outgoing webhook bot (spec 6; behaviour 10): direct messages to it, and personal
 * mentions where it can read them. Messages from bots trigger none, otherwise two bots could reply to each other
 * forever.
 */
function callWebhooks(posted: Posted, view: View): readonly Effect[] {
  const { message, channel } = posted;
  const bots = mentionedBots(posted, view);
  if (bots.length === 0) return [];
  const trigger = channel === null ? webhookTriggers.direct : webhookTriggers.mention;
  let id = view.counter("webhook");
  const rows: Effect[] = [];
  for (const { id: botId } of bots) {
    if (isFull(view, botId)) {
      rows.push(
        ...reportFailureToOwner(
          view,
          botId,
          message.id,
          "Too many messages wait for its server: this one is not sent.",
        ),
      );
      continue;
    }
    id++;
    const row = { id, botId, messageId: message.id, trigger, createdAt: view.now, attempts: 0, dueAt: view.now };
    rows.push(effects.put("webhookDeliveries", [botId, id], row));
  }
  return [effects.setCounter("webhook", id), ...rows];
}

function mentionedBots({ message, sender, channel, userIds, rendered }: Posted, view: View): UserRecord[] {
  if (sender.botType !== null) return [];
  const called = (userIds ?? rendered.mentionedUserIds).flatMap((id) => view.users.get(id) ?? []);
  return called.filter(
    (user) =>
      user.botType === botTypes.outgoingWebhook &&
      user.isActive &&
      (channel === null || canReadChannelMessage(view, user, channel, message.id)),
  );
}

function isFull(view: View, botId: UserId): boolean {
  const limit = limits.webhook_deliveries_per_bot_max;
  return view.keys("webhookDeliveries", { start: [botId], end: [botId + 1], limit }).length >= limit;
}

type FollowUp = (posted: Posted, view: View) => readonly Effect[];

const followUps: readonly FollowUp[] = [
  showActivity,
  findFirstMessage,
  linkFiles,
  callWebhooks,
  remember,
  raiseWatermarks,
];

export function followUpEffects(posted: Posted, view: View): readonly Effect[] {
  const all: Effect[] = [];
  for (const followUp of followUps) all.push(...followUp(posted, view));
  return all;
}

function showActivity({ channel }: Posted, view: View): readonly Effect[] {
  if (channel === null || isRecentlyActive(view, channel)) return [];
  return [effects.emit("stream", updateBody(channel, "is_recently_active", true), watchers(channel, []))];
}

function linkFiles({ message, sender, rendered }: Posted, view: View): readonly Effect[] {
  return linkAttachments(view, sender, message.id, rendered.attachmentPaths);
}

/** A channel that already contains messages has announced its first one; it must not be announced twice. */
function findFirstMessage({ channel }: Posted, view: View): readonly Effect[] {
  if (channel === null || channel.firstMessageId !== null || !isEmpty(view, channel.id)) return [];
  return [effects.send(command({ actor: "realm" }, "channel.find-first-message", { channelId: channel.id }, null))];
}

function isEmpty(view: View, channelId: ChannelId): boolean {
  return view.keys("channelMessages", { start: [channelId], end: [channelId + 1], limit: 1 }).length === 0;
}

function remember({ message, channel, topic, userIds, alerts }: Posted, view: View): readonly Effect[] {
  const participantIds = alerts?.participantIds ?? [];
  return rememberMissed({ message, channelId: channel?.id ?? null, topic, userIds, participantIds }, view);
}

/** If senders have not read their own post, it must stay above their watermark. */
function raiseWatermarks({ message, sender }: Posted, view: View): readonly Effect[] {
  if (hasTrait(message.traits, "isUnreadBySender")) return [];
  const conversation = view.row("conversations", message.conversationId);
  return conversation === undefined ? [] : followOwnPosts(view, sender.id, { messageId: message.id, conversation });
}
