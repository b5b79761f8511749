/** The messages of a channel or topic that a user marks as read or leaves. */

import type { ConversationRef } from "../../domain/read-state.ts";
import type { View } from "../../domain/view.ts";
import type { MessageId } from "../../schemas/ids.ts";
import type { ReadScope, Seen } from "../../schemas/read-state.ts";

/** The index that lists the messages of a place by id. */
function listOf({ channelId, conversationId }: ReadScope) {
  return conversationId === null
    ? (["channelMessages", channelId] as const)
    : (["conversationMessages", conversationId] as const);
}

/** Whether a place has at least `count` messages from an id on; reads the index only. */
export function hasMany(view: View, place: ReadScope, from: number, count: number): boolean {
  const [table, id] = listOf(place);
  return view.keys(table, { start: [id, from], end: [id + 1], limit: count }).length === count;
}

/** Id of the newest message of a place; 0: it is empty. */
export function newestIn(view: View, place: ReadScope): number {
  const [table, id] = listOf(place);
  const [last] = view.keys(table, { start: [id, Number.MAX_SAFE_INTEGER], end: [id], reverse: true, limit: 1 });
  return last?.[1] ?? 0;
}

/** A message and its conversation. */
export interface Candidate {
  readonly seen: Seen;
  readonly conversation: ConversationRef;
}

/** Returns the message if it is in the place. */
export function messageIn(view: View, place: ReadScope, messageId: MessageId): Candidate | null {
  const seen = view.row("messages", messageId);
  const conversation = seen === undefined ? undefined : view.row("conversations", seen.conversationId);
  if (seen === undefined || conversation === undefined || conversation.channelId !== place.channelId) return null;
  return place.conversationId === null || place.conversationId === conversation.id ? { seen, conversation } : null;
}

/** Messages of a place from an id on, ascending. */
export function rowsIn(view: View, { channelId, conversationId }: ReadScope, from: number, limit: number): Candidate[] {
  const candidates = (id: number, { senderId, traits }: Omit<Seen, "id">, inside: number): Candidate[] => {
    const conversation = view.row("conversations", inside);
    return conversation === undefined ? [] : [{ seen: { id, senderId, traits }, conversation }];
  };
  if (conversationId === null) {
    const range = { start: [channelId, from], end: [channelId + 1], limit };
    const rows = view.rows("channelMessages", range);
    return rows.flatMap(({ key, row }) => candidates(key[1], row, row.conversationId));
  }
  const range = { start: [conversationId, from], end: [conversationId + 1], limit };
  return view.rows("conversationMessages", range).flatMap(({ key, row }) => candidates(key[1], row, conversationId));
}
