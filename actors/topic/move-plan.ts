/** What a move comprises, looked at once when it is asked for: which messages, whether any stays behind, what is there already. */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import type { ChannelRecord, MessageRecord, UserRecord } from "../../schemas/records.ts";
import { type Move, moveLimitS } from "../../src/domain/message-rules.ts";
import { canReadChannelMessage } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import type { MessageMove } from "../commands/messages.ts";
import type { Command } from "../commands.ts";
import type { TopicContext } from "./machine.ts";

interface Wish {
  readonly caller: UserRecord;
  readonly message: MessageRecord;
  readonly from: ChannelRecord;
  readonly to: ChannelRecord;
  readonly topic: string;
}

export interface PlannedMove extends MessageMove {
  /** The topic gets another name and keeps its messages: nothing stays behind, and nothing is called so yet. */
  readonly isRename: boolean;
}

export function planMove(context: TopicContext, asked: Command<"message.edit">, view: View, wish: Wish): PlannedMove {
  const { params, ticket } = asked;
  const { caller, message, from, to, topic } = wish;
  const conversationId = context.id ?? 0;
  const range = rangeOf(params.propagateMode, message.id, view.counter("message"));
  const sight: Sight = { view, caller, channel: from, conversationId };
  const target = targetOf(view, wish, conversationId);
  const isSameName = from.id === to.id && fold(topic) === fold(context.topic);
  return {
    moveId: view.counter("move") + 1,
    movedById: caller.id,
    at: view.now,
    messageId: message.id,
    propagateMode: params.propagateMode,
    conversationId,
    from: { channelId: from.id, topic: context.topic },
    to: { channelId: to.id, topic: spelling(view, wish, conversationId) },
    ...range,
    isLimitedToSight: isLimited(from),
    isWhole: !seesAny(sight, 0, range.afterId) && !seesAny(sight, range.upToId + 1, Number.MAX_SAFE_INTEGER),
    target,
    notifiesOldThread: params.notifiesOldThread,
    notifiesNewThread: params.notifiesNewThread,
    count: 0,
    waiting: ticket === null ? null : { ticket, boot: view.counter("boot") },
    // A topic has one spelling: another one is the whole topic's, whichever message was named.
    isRename: isSameName || (from.id === to.id && target === "free" && isEntire(sight, context, range)),
  };
}

type IdRange = Pick<MessageMove, "afterId" | "upToId">;

function rangeOf(mode: MessageMove["propagateMode"], messageId: number, lastId: number): IdRange {
  if (mode === "change_one") return { afterId: messageId - 1, upToId: messageId };
  return { afterId: mode === "change_later" ? messageId - 1 : 0, upToId: lastId };
}

function targetOf(view: View, { caller, to, topic }: Wish, conversationId: number): MessageMove["target"] {
  const named = view.row("topicNames", [to.id, fold(topic)]);
  if (named === undefined || named.id === conversationId) return "free";
  const sight: Sight = { view, caller, channel: to, conversationId: named.id };
  return seesAny(sight, 0, Number.MAX_SAFE_INTEGER) ? "visible" : "hidden";
}

/** As the topic that is there already is called: so the history says what the messages are called (a topic has one spelling). */
function spelling(view: View, { to, topic }: Wish, conversationId: number): string {
  const named = view.row("topicNames", [to.id, fold(topic)]);
  if (named === undefined || named.id === conversationId) return topic;
  return view.row("conversations", named.id)?.topic ?? topic;
}

/** A conversation as somebody sees it. */
interface Sight {
  readonly view: View;
  readonly caller: UserRecord;
  readonly channel: ChannelRecord;
  readonly conversationId: number;
}

/** Protected history: what one sees depends on the message. */
function isLimited(channel: ChannelRecord): boolean {
  return channel.isPrivate && !channel.isHistoryPublic;
}

/** Whether the caller sees a message of the conversation with an id in the range. */
function seesAny(sight: Sight, first: number, last: number): boolean {
  return oldestSeen(sight, first, last) !== null;
}

/** The oldest message with an id in the range that the caller sees; one look per stay at most. */
function oldestSeen({ view, caller, channel, conversationId }: Sight, first: number, last: number): number | null {
  const oldest = (start: number, end: number) => {
    if (start > end) return null;
    const range = { start: [conversationId, start], end: [conversationId, end + 1], limit: 1 };
    return view.keys("conversationMessages", range)[0]?.[1] ?? null;
  };
  if (!isLimited(channel)) return oldest(first, last);
  for (const stay of view.subscriptions.get(caller.id, channel.id)?.stays ?? []) {
    const end = Math.min(last, stay.leftAtId ?? Number.MAX_SAFE_INTEGER);
    const found = oldest(Math.max(first, stay.joinedAfterId + 1), end);
    if (found !== null) return found;
  }
  return null;
}

/** Whether every message of the conversation goes, seen or not. */
function isEntire(sight: Sight, context: TopicContext, { afterId, upToId }: IdRange): boolean {
  const { view, caller, channel, conversationId } = sight;
  const [oldest] = view.keys("conversationMessages", { start: [conversationId], end: [conversationId + 1], limit: 1 });
  if (oldest === undefined || oldest[1] <= afterId || context.lastMessageId > upToId) return false;
  if (!isLimited(channel)) return true;
  const stays = view.subscriptions.get(caller.id, channel.id)?.stays ?? [];
  return stays.some(
    (stay) => stay.joinedAfterId < oldest[1] && (stay.leftAtId === null || context.lastMessageId <= stay.leftAtId),
  );
}

/** Spec of change_all: the topic may be moved as a whole only while its oldest message may be (MOVE_MESSAGES_TIME_LIMIT_EXCEEDED). */
export function checkMoveLimit(view: View, caller: UserRecord, move: Move, conversationId: number): Refusal | null {
  const limitS = moveLimitS(view, caller, move);
  if (limitS === null) return null;
  const isTooOld = (id: number) => (view.row("messages", id)?.sentAt ?? 0) <= view.now - limitS * 1000;
  const oldest = oldestSeen({ view, caller, channel: move.from, conversationId }, 0, Number.MAX_SAFE_INTEGER - 1);
  if (oldest === null || !isTooOld(oldest)) return null;
  const newest = newestSeen(view, caller, move.from, conversationId);
  // Ids and times grow together: what may be moved comes first.
  let allowed = 0;
  let end = newest.length;
  while (allowed < end) {
    const middle = Math.floor((allowed + end) / 2);
    if (isTooOld(newest[middle] ?? 0)) end = middle;
    else allowed = middle + 1;
  }
  return refuse.moveTimeLimitExceeded(newest[allowed - 1] ?? null, allowed, newest.length);
}

/** Newest first; so many that the number tells something. */
function newestSeen(view: View, caller: UserRecord, channel: ChannelRecord, conversationId: number): number[] {
  const keys = view.keys("conversationMessages", {
    start: [conversationId, Number.MAX_SAFE_INTEGER],
    end: [conversationId],
    reverse: true,
    limit: limits.move_messages_counted_max,
  });
  const ids = keys.map(([, id]) => id);
  return isLimited(channel) ? ids.filter((id) => canReadChannelMessage(view, caller, channel, id)) : ids;
}
