/**
 * Floors that follow what is read message by message: a row each would grow with everything that people read, so a floor is
 * raised over what lies read without a gap. Such a floor says nothing new: what somebody marks as unread stays unread.
 */
import { limits } from "../../schemas/limits.ts";
import type { ConversationRecord, ReadFloorRecord } from "../../schemas/records.ts";
import { ReadState } from "../../src/domain/read-state.ts";
import type { View } from "../../src/domain/view.ts";
import type { Effect } from "../effects.ts";
import { noteMarks, putFloor } from "./read-rows.ts";

/** Steps that are worth a row. */
const advance_min = 20;

/** Raises a channel's floor over what is read at its end: a bounded walk, which later marks go on with. */
export function advancedFloor(
  view: View,
  channelId: number,
  state: ReadState,
  limit: number = limits.read_rows_inline_max,
): ChannelFloor | null {
  const start = state.floorOf({ channelId, conversationId: null });
  let upTo = 0;
  let steps = 0;
  let isStopped = false;
  for (const { key, row } of inPages(view, "channelMessages", { from: [channelId, start + 1], limit })) {
    const conversation = view.row("conversations", row.conversationId);
    isStopped = conversation !== undefined && !state.isRead({ id: key[1], ...row }, conversation);
    if (isStopped) break;
    upTo = key[1];
    steps++;
  }
  const isWorthIt = steps >= advance_min || !isStopped;
  if (upTo === 0 || !isWorthIt) return null;
  const before = state.floor({ kind: "channel", id: channelId });
  return { channelId, floor: { upTo, at: before?.at ?? 0 } };
}

/** Rows of the first page of a walk, and how many times longer each next one is. */
const page_min = 8;
const pageGrowth = 8;

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
  most: number = limits.read_rows_inline_max,
): ReadFloorRecord | null {
  const start = state.floorOf({ channelId: conversation.channelId, conversationId: conversation.id });
  const walk = { from: [conversation.id, start + 1], limit: read.size + most } as const;
  let upTo = 0;
  for (const { key, row } of inPages(view, "conversationMessages", walk)) {
    const id = key[1];
    if (!read.has(id) && !state.isRead({ id, ...row }, conversation)) break;
    upTo = id;
  }
  if (upTo === 0) return null;
  return { upTo, at: state.floor({ kind: "conversation", id: conversation.id })?.at ?? 0 };
}

interface Walk {
  readonly from: readonly [place: number, id: number];
  readonly limit: number;
}

/** A place's rows in order, a few to begin with: where somebody else wrote meanwhile, a walk ends soon. */
function* inPages<T extends "channelMessages" | "conversationMessages">(view: View, table: T, { from, limit }: Walk) {
  const [place] = from;
  let [, id] = from;
  for (let left = limit, size = page_min; left > 0; size *= pageGrowth) {
    const page = view.rows(table, { start: [place, id], end: [place + 1], limit: Math.min(size, left) });
    yield* page;
    if (page.length < size) return;
    left -= page.length;
    id = (page.at(-1)?.key[1] ?? 0) + 1;
  }
}

const none: ReadonlySet<number> = new Set();

/**
 * Floors of who writes: one's own messages are read by rule, with no row that says so, and whoever looks for what is unread would
 * open all of them. With one post in `own_posts_per_floor`, a floor is raised over what is read: the channel's, or, where
 * something unread stands in its way, the conversation's.
 * @param messageId of the post, which is not in the view yet
 */
export function followOwnPosts(
  view: View,
  userId: number,
  { messageId, conversation }: { readonly messageId: number; readonly conversation: ConversationRecord },
): Effect[] {
  if (!isTimeToLook(messageId)) return [];
  const state = new ReadState(view, userId);
  if (!state.holdsUnread(conversation)) return [];
  const { id, channelId, lastMessageId } = conversation;
  const most = limits.own_floor_rows_max;
  const channel = channelId === null ? null : advancedFloor(view, channelId, state, most);
  const reached = channel?.floor.upTo ?? state.floorOf({ channelId, conversationId: null });
  const own = reached < lastMessageId ? raisedFloor(view, state, conversation, none, most) : null;
  if (channel === null && own === null) return [];
  return [
    ...(channel === null ? [] : [putFloor("channel", channel.channelId, userId, channel.floor)]),
    ...(own === null ? [] : [putFloor("conversation", id, userId, own)]),
    ...noteMarks(view, userId, { newest: Math.max(channel?.floor.upTo ?? 0, own?.upTo ?? 0) }),
  ];
}

/** By lot, told by the id: two who write in turn must not take each other's turns. */
function isTimeToLook(messageId: number): boolean {
  return Math.imul(messageId, 0x9e3779b1) >>> 0 < 2 ** 32 / limits.own_posts_per_floor;
}
