/**
 * Finds users who should notice a message although it does not mention them by name: alert words, `@topic` mentions,
 * and bots that receive it because they are mentioned (schemas/messages.ts). Computed when the message is posted or
 * edited.
 */

import { hasContentAccess } from "../../domain/permissions.ts";
import { redactor } from "../../domain/redaction.ts";
import type { View } from "../../domain/view.ts";
import { botTypes } from "../../schemas/bots.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import type { ChannelId, ConversationId, UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { MessageAlertsRecord } from "../../schemas/messages.ts";

export interface Written {
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
export function mentionedBots(view: View, channel: ChannelRecord, mentionedUserIds: readonly UserId[]): number[] {
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
export function participants(view: View, conversationId: ConversationId | null): Set<number> {
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
