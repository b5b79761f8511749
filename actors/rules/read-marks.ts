/**
 * Marks messages as read, for a mark or an unsubscription: a few in one command, many with an announcement in slices.
 */

import { ReadState } from "../../domain/read-state.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelId, MessageId, UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { ReadAnnouncement, ReadScope, WatermarkScope } from "../../schemas/read-state.ts";
import { type Effect, effects } from "../protocol/decision.ts";
import { announceNow } from "./read-announcements.ts";
import { type Candidate, hasMany, messageIn, newestIn, rowsIn } from "./read-places.ts";
import { flagEvents, nextMark, takeMark } from "./read-rows.ts";

/** Exceptions for single messages that have become redundant. */
export function redundantExceptions(state: ReadState, userId: UserId, messageIds: readonly MessageId[]): Effect[] {
  return messageIds.flatMap((messageId) =>
    state.exception(messageId) === undefined ? [] : [effects.remove("readExceptions", [userId, messageId])],
  );
}

/** The current watermarks. Later marks must not hide what is still to be announced. */
export function watermarksOf(state: ReadState, { channelId, conversationId }: ReadScope): ReadAnnouncement["before"] {
  const places: WatermarkScope[] = [
    { kind: "realm", id: 0 },
    { kind: "channel", id: channelId },
    ...(conversationId === null ? [] : [{ kind: "conversation", id: conversationId } as const]),
  ];
  return places.map((place) => ({ place, watermark: state.watermark(place) }));
}

/** Ids of the unread messages in a place, ascending; null: too many to examine while the request waits. */
export function unreadUpToLimit(
  view: View,
  userId: UserId,
  state: ReadState,
  place: ReadScope,
  start: number,
): readonly number[] | null {
  const limit = limits.read_rows_inline_max;
  const marked = view.keys("readExceptions", { start: [userId], end: [userId, start + 1], limit });
  if (marked.length === limit || hasMany(view, place, start + 1, limit)) return null;
  const rows = rowsIn(view, place, start + 1, limit);
  const older = marked.flatMap(([, id]) => messageIn(view, place, id) ?? []);
  const isUnread = ({ seen, conversation }: Candidate) => !state.isRead(seen, conversation);
  return [...older, ...rows].filter(isUnread).map(({ seen }) => seen.id);
}

/**
 * Messages that become read by unsubscribing are announced to the user, even if they subscribe again before the last
 * slice.
 */
export function leaveRead(view: View, userId: UserId, channelId: ChannelId): Effect[] {
  const place = { channelId, conversationId: null };
  const state = new ReadState(view, userId);
  const start = state.watermarkOf(place);
  const upTo = newestIn(view, place);
  const hasMarked = view.keys("readExceptions", { start: [userId], end: [userId + 1], limit: 1 }).length > 0;
  if (upTo <= start && !hasMarked) return [];
  const found = unreadUpToLimit(view, userId, state, place, start);
  if (found !== null) {
    // A few messages are announced at once. A later scan would miss those that move away in between.
    return [...redundantExceptions(state, userId, found), ...flagEvents(userId, "add", "read", found)];
  }
  const before = watermarksOf(state, place);
  const announcement = { place, before, at: nextMark(view), from: 0, start, upTo: Math.max(upTo, start) };
  return [takeMark(view), ...announceNow(view, userId, announcement)];
}
