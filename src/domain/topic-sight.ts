/**
 * Who knows a topic (S1): whoever can read one of its messages. In protected history that is not everybody in the channel: to who
 * received none of them, the topic's name is as little known as what is written in it.
 */
import { fold } from "../../schemas/fold.ts";
import type { ChannelRecord, ConversationRecord, UserRecord } from "../../schemas/records.ts";
import { canReadChannelMessage, hasContentAccess } from "./permissions.ts";
import type { View } from "./view.ts";

/**
 * The newest message of a conversation that the reader could read if it stood in this channel; null: none. In protected history, the
 * newest that they received: one look for each of their stays.
 */
export function newestReadable(
  view: View,
  reader: UserRecord,
  channel: ChannelRecord,
  { id: conversationId, lastMessageId }: Pick<ConversationRecord, "id" | "lastMessageId">,
): number | null {
  if (lastMessageId === 0) return null;
  if (canReadChannelMessage(view, reader, channel, lastMessageId)) return lastMessageId;
  const { stays } = view.subscriptions.get(reader.id, channel.id) ?? { stays: [] };
  for (const stay of [...stays].reverse()) {
    const start = [conversationId, stay.leftAtId ?? Number.MAX_SAFE_INTEGER] as const;
    const end = [conversationId, stay.joinedAfterId] as const;
    const [found] = view.keys("conversationMessages", { start, end, reverse: true, limit: 1 });
    if (found !== undefined && canReadChannelMessage(view, reader, channel, found[1])) return found[1];
  }
  return null;
}

/** The conversations that topics are called by these names now. */
export function conversationsNamed(
  view: View,
  places: readonly { readonly channelId: number; readonly topic: string }[],
): readonly ConversationRecord[] {
  const ids = places.flatMap(({ channelId, topic }) => view.row("topicNames", [channelId, fold(topic)])?.id ?? []);
  return [...new Set(ids)].flatMap((id) => view.row("conversations", id) ?? []);
}

/** Whether somebody can read one of the messages of these conversations, as messages of the channel. */
export function knowsTopic(
  view: View,
  reader: UserRecord,
  channel: ChannelRecord,
  conversations: readonly ConversationRecord[],
): boolean {
  if (!hasContentAccess(view, reader, channel)) return false;
  if (!channel.isPrivate || channel.isHistoryPublic) return true;
  return conversations.some((conversation) => newestReadable(view, reader, channel, conversation) !== null);
}
