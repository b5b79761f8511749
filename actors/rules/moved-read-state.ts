/**
 * Preserves read state when messages move (architecture, Read state). Only users who may be affected are examined:
 * within a channel, those with a watermark in one of the two topics; across channels, the subscribers of the source
 * channel. For others, a message from another channel counts as read. The read state is written with the move or, if
 * many users are affected, in slices before it. No other command runs until the messages have moved, so no user sees a
 * moved message without its read state.
 */

import { canReadChannelMessage } from "../../domain/permissions.ts";
import { type ConversationRef, ReadState } from "../../domain/read-state.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelId, ConversationId, MessageId, UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { BecomesRead } from "../../schemas/message-changes.ts";
import { messageTraits } from "../../schemas/message-traits.ts";
import { type ReadWatermarkRecord, type Seen, watermarkKinds } from "../../schemas/read-state.ts";
import { type Effect, effects } from "../protocol/decision.ts";
import { LowestIds } from "./missed-messages.ts";
import { noteDepartures } from "./read-announcements.ts";
import { flagEvents, nextMark, noteMarks, putWatermark, takeMark } from "./read-rows.ts";

interface ConversationInChannel {
  readonly id: number;
  readonly channelId: ChannelId;
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
  readonly afterUserId: UserId;
  /** The changes that their slices left to be announced when the messages move. */
  readonly becomesRead?: readonly BecomesRead[];
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

function watermarkHolders(view: View, conversationId: ConversationId, afterUserId: UserId, limit: number): number[] {
  const kind = watermarkKinds.conversation;
  const range = { start: [kind, conversationId, afterUserId + 1], end: [kind, conversationId + 1], limit };
  return view.keys("readWatermarks", range).map(([, , userId]) => userId);
}

/** The next affected users, ascending. */
function concerned(view: View, { from, to }: MoveRoute, afterUserId: UserId, limit: number): number[] {
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
  /** Messages that become read when they move, and the users who are notified then; empty with the last slice. */
  readonly becomesRead: readonly BecomesRead[];
}

/** Writes the read state of one slice of users. */
export function transferReadState(view: View, moved: MovedMessages): TransferredReadState {
  const { messages, from, to, afterUserId } = moved;
  if (messages.length === 0) return { rows: [], onward: null, becomesRead: [] };
  const limit = Math.max(1, Math.floor(limits.moved_read_states_per_command_max / messages.length));
  const people = concerned(view, moved, afterUserId, limit + 1);
  const userIds = people.slice(0, limit);
  const onward = people.length > limit ? (userIds.at(-1) ?? null) : null;
  const slice: Slice = {
    from: { ...from, userIds: null },
    to: { ...to, userIds: null },
    pairs: messages.map((before) => {
      const traits = traitsInChannel(before.traits, from.channelId, to.channelId);
      return { before, after: { ...before, traits } };
    }),
    isAhead: onward !== null,
    rows: [],
    now: new UsersByMessages([]),
    later: new UsersByMessages(moved.becomesRead ?? []),
  };
  for (const userId of userIds) transferFor(view, userId, moved, slice);
  const due = slice.isAhead ? slice.now : slice.now.with(slice.later);
  const marked = slice.rows.length === 0 ? [] : [takeMark(view), ...slice.rows];
  return {
    rows: [...marked, ...due.all.flatMap(({ messageIds, userIds: ids }) => flagEvents(ids, "add", "read", messageIds))],
    onward,
    becomesRead: slice.isAhead ? slice.later.all : [],
  };
}

/** Groups users by the messages that become read for them: thousands of users share one event. */
class UsersByMessages {
  readonly #groups = new Map<string, { readonly messageIds: readonly MessageId[]; readonly userIds: UserId[] }>();

  constructor(groups: readonly BecomesRead[]) {
    for (const { messageIds, userIds } of groups) this.add(messageIds, userIds);
  }

  add(messageIds: readonly MessageId[], userIds: readonly UserId[]): void {
    if (messageIds.length === 0) return;
    const name = messageIds.join();
    const group = this.#groups.get(name);
    if (group === undefined) this.#groups.set(name, { messageIds, userIds: [...userIds] });
    else for (const userId of userIds) group.userIds.push(userId);
  }

  get all(): readonly BecomesRead[] {
    return [...this.#groups.values()];
  }

  with(others: UsersByMessages): UsersByMessages {
    return new UsersByMessages([...this.all, ...others.all]);
  }
}

/** Written together with the messages. */
export function departureOf(view: View, { messages, from }: MovedMessages): Effect[] {
  return messages.length === 0 ? [] : noteDepartures(view, from, messages);
}

interface Slice {
  readonly from: ConversationRef;
  readonly to: ConversationRef;
  readonly pairs: readonly { readonly before: Seen; readonly after: Seen }[];
  /** The messages move in a later command. */
  readonly isAhead: boolean;
  readonly rows: Effect[];
  /** Whom to notify with this command, and with the one that moves the messages. */
  readonly now: UsersByMessages;
  readonly later: UsersByMessages;
}

function transferFor(view: View, userId: UserId, moved: MovedMessages, slice: Slice): void {
  const { from, to, pairs, isAhead, rows } = slice;
  const watermark = copiedWatermark(view, userId, moved);
  const was = new ReadState(view, userId);
  const place = { kind: "conversation", id: to.id } as const;
  const is = watermark === null ? was : new ReadState(view, userId, { watermarks: [{ place, watermark }] });
  const canHold = is.holdsUnread(to);
  const isShown = canHold ? visibilityOf(view, userId, to) : () => false;
  const staysUnread: number[] = [];
  const staysRead: number[] = [];
  const readNow: number[] = [];
  const readLater: number[] = [];
  for (const { before, after } of pairs) {
    const wasRead = was.isRead(before, from);
    const isKept = canHold && isShown(after.id);
    if (wasRead === (!isKept || is.isRead(after, to))) continue;
    if (!wasRead && isKept) {
      staysUnread.push(after.id);
      continue;
    }
    const exception = was.exception(after.id);
    if (wasRead) {
      staysRead.push(after.id);
      // A later mark made the message read, so its pending announcement will no longer find it unread. The event is
      // emitted here.
      if (exception?.isRead === false) readNow.push(after.id);
    } else if (exception === undefined) readLater.push(after.id);
    else {
      readNow.push(after.id);
      // The message must count as announced, although it has not moved yet.
      if (isAhead) staysRead.push(after.id);
      // Otherwise the message would be unread again for a user who subscribes later.
      else rows.push(effects.remove("readExceptions", [userId, after.id]));
    }
  }
  const at = nextMark(view);
  if (watermark !== null) rows.push(putWatermark("conversation", to.id, userId, watermark));
  for (const id of staysRead) rows.push(effects.put("readExceptions", [userId, id], { isRead: true, at }));
  for (const id of staysUnread) rows.push(effects.put("readExceptions", [userId, id], { isRead: false, at }));
  const newest = Math.max(watermark?.upTo ?? 0, staysRead.at(-1) ?? 0, staysUnread.at(-1) ?? 0);
  if (newest > 0) rows.push(...noteMarks(view, userId, { newest }));
  if (isAhead) {
    slice.now.add(readNow, [userId]);
    slice.later.add(readLater, [userId]);
  } else slice.now.add(ascending([...readNow, ...readLater]), [userId]);
}

function ascending(ids: readonly number[]): readonly number[] {
  return ids.length < 2 ? ids : ids.toSorted((a, b) => a - b);
}

/**
 * Whether the user may read a message in the target. In protected history, only messages that they received in that
 * channel.
 */
function visibilityOf(view: View, userId: UserId, { channelId }: ConversationRef): (messageId: MessageId) => boolean {
  const user = view.users.get(userId);
  const channel = view.channels.get(channelId ?? 0);
  if (user === undefined || channel === undefined) return () => false;
  if (!channel.isPrivate || channel.isHistoryPublic) return () => true;
  return (messageId) => canReadChannelMessage(view, user, channel, messageId);
}

/** In a topic created by the move, a copy of the source topic's watermark replaces all single rows. */
function copiedWatermark(
  view: View,
  userId: UserId,
  { from, to, isNew, upToId }: MovedMessages,
): ReadWatermarkRecord | null {
  if (!isNew || from.channelId !== to.channelId) return null;
  const former = view.row("readWatermarks", [watermarkKinds.conversation, from.id, userId]);
  return former === undefined ? null : { ...former, upTo: Math.min(former.upTo, upToId) };
}
