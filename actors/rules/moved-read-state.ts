/**
 * Preserves read state when messages move (architecture, Read state). Only users who may be affected are examined:
 * within a channel, those with a watermark in one of the two topics; across channels, the subscribers of the source
 * channel. For others, a message from another channel counts as read. The read state is written with the move or, if
 * many users are affected, in slices before it. No other command runs until the messages have moved, so no user sees a
 * moved message without its read state.
 */
import { limits } from "../../schemas/limits.ts";
import { messageTraits } from "../../schemas/message-traits.ts";
import { type ReadWatermarkRecord, type Seen, watermarkKinds } from "../../schemas/read-state.ts";
import { LowestIds } from "../../src/domain/lowest-ids.ts";
import { canReadChannelMessage } from "../../src/domain/permissions.ts";
import { type ConversationRef, ReadState } from "../../src/domain/read-state.ts";
import type { View } from "../../src/domain/view.ts";
import { type Effect, effects } from "../protocol/effects.ts";
import { noteDepartures } from "./read-announcements.ts";
import { flagEvents, nextMark, noteMarks, putWatermark, takeMark } from "./read-rows.ts";

interface ConversationInChannel {
  readonly id: number;
  readonly channelId: number;
}

interface MoveRoute {
  readonly from: ConversationInChannel;
  readonly to: ConversationInChannel;
}

export interface MovedMessages extends MoveRoute {
  /** The messages before the move. */
  readonly messages: readonly Seen[];
  /** The target topic is created by the move. */
  readonly isNew: boolean;
  /** No message of the move has a higher id. */
  readonly upToId: number;
  /** Users up to this id are done. */
  readonly afterUserId: number;
}

/**
 * The traits of a message after it moved to a channel. A message from another channel is unread only for users for whom
 * it was unread before.
 */
export function traitsInChannel(traits: number, from: number, to: number): number {
  return from === to ? traits : traits | messageTraits.changedChannel;
}

/** Number of messages to move at once. It bounds the number of read states that one command writes. */
export function movedAtOnce(view: View, route: MoveRoute): number {
  const least = limits.move_batch_messages_min;
  const most = Math.ceil(limits.moved_read_states_per_batch / least);
  const people = Math.max(1, concernedCount(view, route, most));
  return Math.min(limits.move_batch_messages, Math.max(least, Math.floor(limits.moved_read_states_per_batch / people)));
}

/** Upper bound of the number of affected users, counted no further than `most`. */
function concernedCount(view: View, { from, to }: MoveRoute, most: number): number {
  if (from.channelId !== to.channelId) return view.subscriptions.ofChannel(from.channelId).size;
  return [from.id, to.id].reduce((sum, id) => sum + watermarkHolders(view, id, 0, most).length, 0);
}

function watermarkHolders(view: View, conversationId: number, afterUserId: number, limit: number): number[] {
  const kind = watermarkKinds.conversation;
  const range = { start: [kind, conversationId, afterUserId + 1], end: [kind, conversationId + 1], limit };
  return view.keys("readWatermarks", range).map(([, , userId]) => userId);
}

/** The next affected users, ascending. */
function concerned(view: View, { from, to }: MoveRoute, afterUserId: number, limit: number): number[] {
  const lowest = new LowestIds(limit);
  const all =
    from.channelId === to.channelId
      ? [from.id, to.id].flatMap((id) => watermarkHolders(view, id, afterUserId, limit))
      : view.subscriptions.ofChannel(from.channelId);
  for (const id of all) if (id > afterUserId) lowest.add(id);
  return lowest.ascending();
}

export interface TransferredReadState {
  readonly rows: readonly Effect[];
  /** The last user of this slice if more follow; null: all are done and this command can move the messages. */
  readonly onward: number | null;
}

/** Writes the read state of one slice of users. */
export function transferReadState(view: View, moved: MovedMessages): TransferredReadState {
  const { messages, from, to, afterUserId } = moved;
  if (messages.length === 0) return { rows: [], onward: null };
  const limit = Math.max(1, Math.floor(limits.moved_read_states_per_command_max / messages.length));
  const people = concerned(view, moved, afterUserId, limit + 1);
  const userIds = people.slice(0, limit);
  const onward = people.length > limit ? (userIds.at(-1) ?? null) : null;
  const pairs = messages.map((before) => {
    const traits = traitsInChannel(before.traits, from.channelId, to.channelId);
    return { before, after: { ...before, traits } };
  });
  const rows = userIds.flatMap((userId) => transferFor(view, userId, moved, { pairs, isAhead: onward !== null }));
  return { rows: [...(rows.length === 0 ? [] : [takeMark(view)]), ...rows], onward };
}

/** Written together with the messages. */
export function departureOf(view: View, { messages, from }: MovedMessages): Effect[] {
  return messages.length === 0 ? [] : noteDepartures(view, from, messages);
}

interface Slice {
  readonly pairs: readonly { readonly before: Seen; readonly after: Seen }[];
  /** The messages move in a later command. */
  readonly isAhead: boolean;
}

function transferFor(view: View, userId: number, moved: MovedMessages, { pairs, isAhead }: Slice): Effect[] {
  const from: ConversationRef = { ...moved.from, userIds: null };
  const to: ConversationRef = { ...moved.to, userIds: null };
  const watermark = copiedWatermark(view, userId, moved);
  const was = new ReadState(view, userId);
  const place = { kind: "conversation", id: to.id } as const;
  const is = new ReadState(view, userId, watermark === null ? {} : { watermarks: [{ place, watermark }] });
  const isShown = visibilityOf(view, userId, to);
  const staysUnread: number[] = [];
  const staysRead: number[] = [];
  const announcedIds: number[] = [];
  const redundant: Effect[] = [];
  for (const { before, after } of pairs) {
    const wasRead = was.isRead(before, from);
    const isKept = is.holdsUnread(to) && isShown(after.id);
    if (wasRead === (!isKept || is.isRead(after, to))) continue;
    const exception = was.exception(after.id);
    if (wasRead) {
      staysRead.push(after.id);
      // A later mark made the message read, so its pending announcement will no longer find it unread. The event is
      // emitted here.
      if (exception?.isRead === false) announcedIds.push(after.id);
    } else if (isKept) staysUnread.push(after.id);
    else {
      announcedIds.push(after.id);
      // The message must count as announced, although it has not moved yet.
      if (isAhead) staysRead.push(after.id);
      // Otherwise the message would be unread again for a user who subscribes later.
      else if (exception !== undefined) redundant.push(effects.remove("readExceptions", [userId, after.id]));
    }
  }
  const exceptions = (ids: readonly number[], isRead: boolean) =>
    ids.map((id) => effects.put("readExceptions", [userId, id], { isRead, at: nextMark(view) }));
  const newest = Math.max(0, watermark?.upTo ?? 0, ...staysRead, ...staysUnread);
  return [
    ...(watermark === null ? [] : [putWatermark("conversation", to.id, userId, watermark)]),
    ...exceptions(staysRead, true),
    ...exceptions(staysUnread, false),
    ...redundant,
    ...noteMarks(view, userId, { newest }),
    ...flagEvents(userId, "add", "read", announcedIds),
  ];
}

/**
 * Whether the user may read a message in the target. In protected history, only messages that they received in that
 * channel.
 */
function visibilityOf(view: View, userId: number, { channelId }: ConversationRef): (messageId: number) => boolean {
  const user = view.users.get(userId);
  const channel = view.channels.get(channelId ?? 0);
  if (user === undefined || channel === undefined) return () => false;
  if (!channel.isPrivate || channel.isHistoryPublic) return () => true;
  return (messageId) => canReadChannelMessage(view, user, channel, messageId);
}

/** In a topic created by the move, a copy of the source topic's watermark replaces all single rows. */
function copiedWatermark(
  view: View,
  userId: number,
  { from, to, isNew, upToId }: MovedMessages,
): ReadWatermarkRecord | null {
  if (!isNew || from.channelId !== to.channelId) return null;
  const former = view.row("readWatermarks", [watermarkKinds.conversation, from.id, userId]);
  return former === undefined ? null : { ...former, upTo: Math.min(former.upTo, upToId) };
}
