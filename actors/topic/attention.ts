/** Whose attention a message calls beside those whom it mentions (records/read-state.ts), decided when it is written. */
import { botTypes } from "../../schemas/bots.ts";
import { limits } from "../../schemas/limits.ts";
import type { ChannelRecord, MessageAttentionRecord } from "../../schemas/records.ts";
import { hasContentAccess } from "../../src/domain/permissions.ts";
import { concealer } from "../../src/domain/unknown-people.ts";
import type { View } from "../../src/domain/view.ts";

export interface Written {
  readonly content: string;
  readonly senderId: number;
  readonly mentionsTopic: boolean;
  /** null: it begins with this message. */
  readonly conversationId: number | null;
  readonly channelId: number | null;
  readonly userIds: readonly number[] | null;
  /** Who received it for being mentioned: decided when it is sent, and no edit changes it. */
  readonly calledBotIds: readonly number[];
}

/** null: nobody's, as for nearly every message. */
export function attentionOf(view: View, written: Written): MessageAttentionRecord | null {
  const alertedUserIds = alerted(view, written);
  const { senderId, conversationId, calledBotIds } = written;
  const participantIds = written.mentionsTopic
    ? [...participants(view, conversationId).add(senderId)].sort((a, b) => a - b)
    : [];
  if (alertedUserIds.length + participantIds.length + calledBotIds.length === 0) return null;
  return { alertedUserIds, participantIds, calledBotIds: calledBotIds.length === 0 ? null : calledBotIds };
}

/**
 * Generic bots outside a public channel that a message mentions by name: they receive it, as on the public server. Other bots and
 * people do not. Ids ascending.
 */
export function calledBots(view: View, channel: ChannelRecord, mentionedUserIds: readonly number[]): number[] {
  if (channel.isPrivate) return [];
  return mentionedUserIds.filter((id) => isCalled(view, channel, id)).sort((a, b) => a - b);
}

function isCalled(view: View, channel: ChannelRecord, userId: number): boolean {
  const user = view.users.get(userId);
  if (user?.botType !== botTypes.generic || !user.isActive) return false;
  return hasContentAccess(view, user, channel) && !view.subscriptions.isSubscribed(userId, channel.id);
}

/** Only who receives it is alerted. */
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
 * A restricted guest is alerted by the text that they are shown: a word that stands only in a stranger's name would tell that the
 * guess is right (S1). @param known texts as guests are shown them, and whom they alert
 */
function isAlertedByWhatIsShown(
  view: View,
  userId: number,
  content: string,
  known: Map<string, ReadonlySet<number>>,
): boolean {
  const user = view.users.get(userId);
  const shown = user === undefined ? content : (concealer(view, user)?.typed(content) ?? content);
  if (shown === content) return true;
  const alertedByIt = known.get(shown) ?? view.alertWords.alertedBy(shown);
  known.set(shown, alertedByIt);
  return alertedByIt.has(userId);
}

/** Ids of those who have written in the topic, as far back as is looked. @param conversationId null: it has no message yet */
export function participants(view: View, conversationId: number | null): Set<number> {
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
