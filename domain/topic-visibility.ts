/**
 * Decides who may know a topic (S1): users who can read one of its messages. With protected history these are not all
 * subscribers: a user who received none of its messages may not know the topic's name either.
 */

import type { ChannelRecord } from "../schemas/channels.ts";
import { fold } from "../schemas/fold.ts";
import type { ChannelId } from "../schemas/ids.ts";
import type { ConversationRecord } from "../schemas/messages.ts";
import type { UserRecord } from "../schemas/users.ts";
import { canReadChannelMessage, hasContentAccess } from "./permissions.ts";
import type { View } from "./view.ts";

/**
 * The newest message of a conversation that the reader could read if it were in this channel, or null. With protected
 * history, the newest one they received: one lookup per stay.
 */
export function newestReadable(
  view: View,
  reader: UserRecord,
  channel: ChannelRecord,
  { id: conversationId, lastMessageId }: Pick<ConversationRecord, "id" | "lastMessageId">,
): number | null {
  if (lastMessageId === 0) return null;
  if (canReadChannelMessage(view, reader, channel, lastMessageId)) return lastMessageId;
  const { periods } = view.subscriptions.get(reader.id, channel.id) ?? { periods: [] };
  for (const period of [...periods].reverse()) {
    const start = [conversationId, period.leftAtId ?? Number.MAX_SAFE_INTEGER] as const;
    const end = [conversationId, period.joinedAfterId] as const;
    const [found] = view.keys("conversationMessages", { start, end, reverse: true, limit: 1 });
    if (found !== undefined && canReadChannelMessage(view, reader, channel, found[1])) return found[1];
  }
  return null;
}

/** The conversations that currently have these topic names. */
export function conversationsNamed(
  view: View,
  places: readonly { readonly channelId: ChannelId; readonly topic: string }[],
): readonly ConversationRecord[] {
  const ids = places.flatMap(({ channelId, topic }) => view.row("topicNames", [channelId, fold(topic)])?.id ?? []);
  return [...new Set(ids)].flatMap((id) => view.row("conversations", id) ?? []);
}

/** Whether a user can read a message of these conversations, treated as messages of the channel. */
export function canSeeTopic(
  view: View,
  reader: UserRecord,
  channel: ChannelRecord,
  conversations: readonly ConversationRecord[],
): boolean {
  if (!hasContentAccess(view, reader, channel)) return false;
  if (!channel.isPrivate || channel.isHistoryPublic) return true;
  return conversations.some((conversation) => newestReadable(view, reader, channel, conversation) !== null);
}
