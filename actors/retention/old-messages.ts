/**
 * Finds messages that are too old. Message ids increase with time (M4), so old messages are at the front of every
 * index: of a channel's index for channel messages, of all messages for direct ones.
 */

import { expiryOf } from "../../domain/retention.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { limits } from "../../schemas/limits.ts";
import type { MessageRecord } from "../../schemas/messages.ts";
import type { SourceConversation } from "../rules/message-removal.ts";

export interface OldMessages {
  readonly messages: readonly MessageRecord[];
  /** The last examined id that is too old; if there is none, the id before the start of the search. */
  readonly lastId: number;
  /** When the first remaining message is due; null: none found. */
  readonly nextAt: number | null;
  readonly isUnfinished: boolean;
}

/** Walks over all messages after `afterId` and skips channel messages. */
export function oldDirects(view: View, days: number, afterId: number): OldMessages {
  const limit = limits.retention_messages_per_command;
  const walked = view.rows("messages", { start: afterId + 1, limit }).map(({ row }) => row);
  const youngAt = walked.findIndex((message) => expiryOf(message.sentAt, days) > view.dueNow);
  const old = youngAt < 0 ? walked : walked.slice(0, youngAt);
  const young = youngAt < 0 ? undefined : walked[youngAt];
  return {
    messages: old.filter((message) => placeOf(view, message)?.channelId === null),
    lastId: old.at(-1)?.id ?? afterId,
    nextAt: young === undefined ? null : expiryOf(young.sentAt, days),
    isUnfinished: old.length === limit,
  };
}

export function placeOf(view: View, message: MessageRecord): SourceConversation | undefined {
  return view.row("conversations", message.conversationId);
}

export interface ChannelSearch {
  readonly channel: ChannelRecord;
  readonly days: number;
  readonly afterId: number;
  readonly limit: number;
}

export function oldInChannel(view: View, { channel, days, afterId, limit }: ChannelSearch): OldMessages {
  const messages: MessageRecord[] = [];
  const lastId = () => messages.at(-1)?.id ?? afterId;
  const keys = view.keys("channelMessages", { start: [channel.id, afterId + 1], end: [channel.id + 1], limit });
  for (const [, id] of keys) {
    const message = view.row("messages", id);
    if (message === undefined) throw new Error(`channel ${channel.id} has no message ${id}`);
    const dueAt = expiryOf(message.sentAt, days);
    if (dueAt > view.dueNow) return { messages, lastId: lastId(), nextAt: dueAt, isUnfinished: false };
    messages.push(message);
  }
  return { messages, lastId: lastId(), nextAt: null, isUnfinished: keys.length === limit };
}
