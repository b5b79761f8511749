/**
 * The extent of a move, determined once when it is requested: which messages, whether any stay behind, and what the
 * target contains.
 */

import { type Move, moveLimitS } from "../../domain/message-rules.ts";
import { canReadChannelMessage } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import type { ConversationId, MessageId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { MessageMove } from "../../schemas/message-changes.ts";
import type { MessageRecord } from "../../schemas/messages.ts";
import type { SubscriptionPeriod } from "../../schemas/subscriptions.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Command } from "../protocol/decision.ts";
import type { TopicContext } from "./context.ts";

interface RequestedMove {
  readonly caller: UserRecord;
  readonly message: MessageRecord;
  readonly from: ChannelRecord;
  readonly to: ChannelRecord;
  readonly topic: string;
}

export interface PlannedMove extends MessageMove {
  /** The topic is renamed and keeps its messages: none stay behind and no other topic has the new name. */
  readonly isRename: boolean;
}

export function planMove(
  context: TopicContext,
  command: Command<"message.edit">,
  view: View,
  requested: RequestedMove,
): PlannedMove {
  const { params, ticket } = command;
  const { caller, message, from, to, topic } = requested;
  const { conversationId } = message;
  const range = rangeOf(params.propagateMode, message.id, view.counter("message"));
  const visibility: Visibility = { view, caller, channel: from, conversationId };
  const target = targetOf(view, requested, conversationId);
  const isSameName = from.id === to.id && fold(topic) === fold(context.topic);
  return {
    moveId: view.counter("move") + 1,
    movedById: caller.id,
    at: view.now,
    messageId: message.id,
    propagateMode: params.propagateMode,
    conversationId,
    from: { channelId: from.id, topic: context.topic },
    to: { channelId: to.id, topic: spelling(view, requested, conversationId) },
    ...range,
    isLimitedToVisible: isLimited(from),
    isWhole: !seesAny(visibility, 0, range.afterId) && !seesAny(visibility, range.upToId + 1, Number.MAX_SAFE_INTEGER),
    target,
    notifiesOldThread: params.notifiesOldThread,
    notifiesNewThread: params.notifiesNewThread,
    count: 0,
    waiting: ticket === null ? null : { ticket, boot: view.counter("boot") },
    // A topic has one spelling, so a change of spelling applies to the whole topic, regardless of the message that was
    // named.
    isRename: isSameName || (from.id === to.id && target === "free" && isEntire(visibility, context, range)),
  };
}

type IdRange = Pick<MessageMove, "afterId" | "upToId">;

function rangeOf(mode: MessageMove["propagateMode"], messageId: MessageId, lastId: number): IdRange {
  if (mode === "change_one") return { afterId: messageId - 1, upToId: messageId };
  return { afterId: mode === "change_later" ? messageId - 1 : 0, upToId: lastId };
}

function targetOf(
  view: View,
  { caller, to, topic }: RequestedMove,
  conversationId: ConversationId,
): MessageMove["target"] {
  const named = view.row("topicNames", [to.id, fold(topic)]);
  if (named === undefined || named.id === conversationId) return "free";
  const visibility: Visibility = { view, caller, channel: to, conversationId: named.id };
  return seesAny(visibility, 0, Number.MAX_SAFE_INTEGER) ? "visible" : "hidden";
}

/** The spelling of the existing target topic if there is one, so that the history shows the name the messages get. */
function spelling(view: View, { to, topic }: RequestedMove, conversationId: ConversationId): string {
  const named = view.row("topicNames", [to.id, fold(topic)]);
  if (named === undefined || named.id === conversationId) return topic;
  return view.row("conversations", named.id)?.topic ?? topic;
}

/** A conversation as the caller can see it. */
interface Visibility {
  readonly view: View;
  readonly caller: UserRecord;
  readonly channel: ChannelRecord;
  readonly conversationId: ConversationId;
}

/** In protected history, visibility depends on the message. */
function isLimited(channel: ChannelRecord): boolean {
  return channel.isPrivate && !channel.isHistoryPublic;
}

/** Whether the caller can see any message of the conversation in the id range. */
function seesAny(visibility: Visibility, first: number, last: number): boolean {
  return oldestSeen(visibility, first, last) !== null;
}

/** The oldest message in the id range that the caller can see; at most one lookup per stay. */
function oldestSeen(visibility: Visibility, first: number, last: number): number | null {
  if (!isLimited(visibility.channel)) return oldest(visibility, first, last);
  for (const period of periodsOf(visibility)) {
    const end = Math.min(last, period.leftAtId ?? Number.MAX_SAFE_INTEGER);
    const found = oldest(visibility, Math.max(first, period.joinedAfterId + 1), end);
    if (found !== null) return found;
  }
  return null;
}

/** The oldest message in the id range, visible or not. */
function oldest({ view, conversationId }: Visibility, first: number, last: number): number | null {
  if (first > last) return null;
  const range = { start: [conversationId, first], end: [conversationId, last + 1], limit: 1 };
  return view.keys("conversationMessages", range)[0]?.[1] ?? null;
}

/** When the caller was subscribed, in order. */
function periodsOf({ view, caller, channel }: Visibility): readonly SubscriptionPeriod[] {
  return view.subscriptions.get(caller.id, channel.id)?.periods ?? [];
}

/** Whether the move includes every message of the conversation, visible or not. */
function isEntire(visibility: Visibility, context: TopicContext, { afterId, upToId }: IdRange): boolean {
  const first = oldest(visibility, 0, Number.MAX_SAFE_INTEGER);
  if (first === null || first <= afterId || context.lastMessageId > upToId) return false;
  return !isLimited(visibility.channel) || seesAll(visibility);
}

/** Whether no message was written while the caller was not subscribed; at most one lookup per absence. */
function seesAll(visibility: Visibility): boolean {
  let absentFrom = 0;
  for (const { joinedAfterId, leftAtId } of periodsOf(visibility)) {
    if (oldest(visibility, absentFrom, joinedAfterId) !== null) return false;
    if (leftAtId === null) return true;
    absentFrom = leftAtId + 1;
  }
  return oldest(visibility, absentFrom, Number.MAX_SAFE_INTEGER) === null;
}

/**
 * change_all: the whole topic may be moved only while its oldest message may be moved
 * (MOVE_MESSAGES_TIME_LIMIT_EXCEEDED).
 */
export function checkMoveLimit(
  view: View,
  caller: UserRecord,
  move: Move,
  conversationId: ConversationId,
): Refusal | null {
  const limitS = moveLimitS(view, caller, move);
  if (limitS === null) return null;
  const isTooOld = (id: number) => (view.row("messages", id)?.sentAt ?? 0) <= view.now - limitS * 1000;
  const oldest = oldestSeen({ view, caller, channel: move.from, conversationId }, 0, Number.MAX_SAFE_INTEGER - 1);
  if (oldest === null || !isTooOld(oldest)) return null;
  const newest = newestSeen(view, caller, move.from, conversationId);
  // Ids increase with time, so the movable messages come first and a binary search finds how many there are.
  let allowed = 0;
  let end = newest.length;
  while (allowed < end) {
    const middle = Math.floor((allowed + end) / 2);
    if (isTooOld(newest[middle] ?? 0)) end = middle;
    else allowed = middle + 1;
  }
  return refuse.moveTimeLimitExceeded(newest[allowed - 1] ?? null, allowed, newest.length);
}

/** Newest first, bounded. */
function newestSeen(view: View, caller: UserRecord, channel: ChannelRecord, conversationId: ConversationId): number[] {
  const keys = view.keys("conversationMessages", {
    start: [conversationId, Number.MAX_SAFE_INTEGER],
    end: [conversationId],
    reverse: true,
    limit: limits.move_messages_counted_max,
  });
  const ids = keys.map(([, id]) => id);
  return isLimited(channel) ? ids.filter((id) => canReadChannelMessage(view, caller, channel, id)) : ids;
}
