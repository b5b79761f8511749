/**
 * Floors that follow what is read message by message: a row each would grow with everything that people read, so a floor is
 * raised over what lies read without a gap. Such a floor says nothing new: what somebody marks as unread stays unread.
 */
import { limits } from "../../schemas/limits.ts";
import type { ConversationRecord, ReadFloorRecord } from "../../schemas/records.ts";
import type { ReadState } from "../../src/domain/read-state.ts";
import type { View } from "../../src/domain/view.ts";

/** Steps that are worth a row. */
const advance_min = 20;

/** Raises a channel's floor over what is read at its end: a bounded walk, which later marks go on with. */
export function advancedFloor(view: View, channelId: number, state: ReadState): ChannelFloor | null {
  const start = state.floorOf({ channelId, conversationId: null });
  const limit = limits.read_rows_inline_max;
  const rows = view.rows("channelMessages", { start: [channelId, start + 1], end: [channelId + 1], limit });
  let steps = 0;
  for (const { key, row } of rows) {
    const conversation = view.row("conversations", row.conversationId);
    if (conversation !== undefined && !state.isRead({ id: key[1], ...row }, conversation)) break;
    steps++;
  }
  const upTo = rows[steps - 1]?.key[1];
  const isWorthIt = steps >= advance_min || steps === rows.length;
  if (upTo === undefined || !isWorthIt) return null;
  const before = state.floor({ kind: "channel", id: channelId });
  return { channelId, floor: { upTo, at: before?.at ?? 0 } };
}

export interface ChannelFloor {
  readonly channelId: number;
  readonly floor: ReadFloorRecord;
}

/** How far a conversation's floor can be raised when some more of its messages are read; null: not at all. */
export function raisedFloor(
  view: View,
  state: ReadState,
  conversation: ConversationRecord,
  read: ReadonlySet<number>,
): ReadFloorRecord | null {
  const start = state.floorOf({ channelId: conversation.channelId, conversationId: conversation.id });
  const limit = read.size + limits.read_rows_inline_max;
  const range = { start: [conversation.id, start + 1], end: [conversation.id + 1], limit };
  let upTo = 0;
  for (const { key, row } of view.rows("conversationMessages", range)) {
    const id = key[1];
    if (!read.has(id) && !state.isRead({ id, ...row }, conversation)) break;
    upTo = id;
  }
  if (upTo === 0) return null;
  return { upTo, at: state.floor({ kind: "conversation", id: conversation.id })?.at ?? 0 };
}
