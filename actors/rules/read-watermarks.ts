/**
 * Watermarks for messages that are read one by one. One row per message would grow without bound, so a watermark is
 * raised over messages that were read without a gap. This changes no read state: messages marked as unread stay unread.
 */

import { ReadState } from "../../domain/read-state.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelId, MessageId, UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { ConversationRecord } from "../../schemas/messages.ts";
import type { ReadWatermarkRecord } from "../../schemas/read-state.ts";
import type { Effect } from "../protocol/decision.ts";
import { isToBeAnnounced } from "./read-announcements.ts";
import { noteMarks, putWatermark } from "./read-rows.ts";

/** Minimum number of messages that justify writing a row. */
const advance_min = 20;

/** Raises a channel's watermark over the read messages above it. The walk is bounded; later marks continue it. */
export function advancedWatermark(
  view: View,
  channelId: ChannelId,
  state: ReadState,
  limit: number = limits.read_rows_inline_max,
): ChannelWatermark | null {
  const start = state.watermarkOf({ channelId, conversationId: null });
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
  const before = state.watermark({ kind: "channel", id: channelId });
  return { channelId, watermark: { upTo, at: before?.at ?? 0 } };
}

/** Size of the first page of a walk, and the growth factor of the following pages. */
const page_min = 8;
const pageGrowth = 8;

export interface ChannelWatermark {
  readonly channelId: ChannelId;
  readonly watermark: ReadWatermarkRecord;
}

/** The conversation's watermark after the messages in `read` have been read; null: it cannot be raised. */
export function raisedWatermark(
  view: View,
  state: ReadState,
  conversation: ConversationRecord,
  read: ReadonlySet<number>,
  most: number = limits.read_rows_inline_max,
): ReadWatermarkRecord | null {
  const start = state.watermarkOf({ channelId: conversation.channelId, conversationId: conversation.id });
  const walk = { from: [conversation.id, start + 1], limit: read.size + most } as const;
  let upTo = 0;
  for (const { key, row } of inPages(view, "conversationMessages", walk)) {
    const id = key[1];
    if (!read.has(id) && !state.isRead({ id, ...row }, conversation)) break;
    upTo = id;
  }
  if (upTo === 0) return null;
  return { upTo, at: state.watermark({ kind: "conversation", id: conversation.id })?.at ?? 0 };
}

interface Walk {
  readonly from: readonly [place: number, id: number];
  readonly limit: number;
}

/** Rows in order, starting with a small page: a walk usually ends soon at another user's unread message. */
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
 * Raises watermarks over a user's own posts. They are read by rule, without a row, so a search for unread messages
 * would have to open all of them. On average every `own_posts_per_watermark` posts, a watermark is raised: the
 * channel's or, if an unread message blocks it, the conversation's.
 * @param messageId the new message, which the view does not contain yet
 */
export function followOwnPosts(
  view: View,
  userId: UserId,
  { messageId, conversation }: { readonly messageId: MessageId; readonly conversation: ConversationRecord },
): Effect[] {
  if (!isRaiseDue(messageId)) return [];
  const state = new ReadState(view, userId);
  if (!state.holdsUnread(conversation)) return [];
  const { id, channelId, lastMessageId } = conversation;
  const most = limits.own_watermark_rows_max;
  const channel = channelId === null ? null : advancedWatermark(view, channelId, state, most);
  const reached = channel?.watermark.upTo ?? state.watermarkOf({ channelId, conversationId: null });
  const mayRaise = reached < lastMessageId && (channelId === null || !isToBeAnnounced(view, userId, channelId));
  const own = mayRaise ? raisedWatermark(view, state, conversation, none, most) : null;
  if (channel === null && own === null) return [];
  return [
    ...(channel === null ? [] : [putWatermark("channel", channel.channelId, userId, channel.watermark)]),
    ...(own === null ? [] : [putWatermark("conversation", id, userId, own)]),
    ...noteMarks(view, userId, { newest: Math.max(channel?.watermark.upTo ?? 0, own?.upTo ?? 0) }),
  ];
}

/** Pseudo-random by message id, so that users who post alternately have the same chance. */
function isRaiseDue(messageId: MessageId): boolean {
  return Math.imul(messageId, 0x9e3779b1) >>> 0 < 2 ** 32 / limits.own_posts_per_watermark;
}
