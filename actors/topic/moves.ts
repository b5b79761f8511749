/**
 * Moves messages to another conversation: part of a topic, a topic merged into another one, or a topic moved to another
 * channel. The target imports them oldest first, one batch per turn, and sends itself a command with the rest, so a
 * crash leaves a batch boundary and the move continues after the restart (M3). Meanwhile the source accepts posts
 * (newer than the move, so they stay) and deletions (messages that have moved survive), but no other move or rename.
 */

import { forgottenMove, leadsElsewhere } from "../../domain/message-rules.ts";
import { hasReceived } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { Answer } from "../../schemas/answer.ts";
import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import type { MessageMove } from "../../schemas/message-changes.ts";
import type { MessageRecord } from "../../schemas/messages.ts";
import { type Command, command, type Done, done, type Effect, effects, type Outcome } from "../protocol/decision.ts";
import { flagsLost } from "../rules/flag-holders.ts";
import { departureOf, movedAtOnce, traitsInChannel, transferReadState } from "../rules/moved-read-state.ts";
import { moveUserTopics } from "../rules/user-topic-moves.ts";
import { messageRows, type TopicContext } from "./context.ts";
import { arrivalNotices } from "./move-notices.ts";
import type { PlannedMove } from "./move-plan.ts";
import { moveEvents } from "./update-events.ts";

/** The answer to the request, including files that a content edit in it left without a link. */
export function answerOf({ detachedUploads = [] }: Pick<MessageMove, "detachedUploads">): Answer {
  return { detached_uploads: detachedUploads };
}

/** In the source conversation: records the move and sends it to the target. */
export function startMove(
  view: View,
  { isRename: _is, ...move }: PlannedMove,
  others: readonly Effect[],
): Outcome<TopicContext> {
  const { moveId, conversationId, from, to, movedById: userId } = move;
  const prevTopic = view.row("conversations", conversationId)?.topic ?? from.topic;
  const started: Done<TopicContext> = done(
    null,
    [
      ...others,
      effects.setCounter("move", moveId),
      effects.put("messageMoves", moveId, {
        userId,
        at: move.at,
        fromId: conversationId,
        prevChannelId: from.channelId,
        channelId: to.channelId,
        prevTopic,
        topic: to.topic,
      }),
      effects.send(command({ actor: "topic", ...to }, "messages.import", move, null)),
    ],
    { movingId: moveId },
    "moving",
  );
  return { ...started, keptAnswer: answerOf(move) };
}

/** In the target conversation. */
export function importMessages(
  context: TopicContext,
  request: Command<"messages.import">,
  view: View,
): Outcome<TopicContext> {
  const { begun, ...move } = request.params;
  const target = { actor: "topic", ...move.to } as const;
  // The messages that had arrived were all deleted again, so the target is a new conversation under the same name.
  if (context.id === null && request.to.actor !== "topic") {
    return done({}, [effects.send(command(target, "messages.import", move, null))]);
  }
  const id = context.id ?? begun?.conversationId ?? view.counter("recipient") + 1;
  const way = {
    from: { id: move.conversationId, channelId: move.from.channelId },
    to: { id, channelId: move.to.channelId },
  };
  const { messages, lastSeen, hasMore } =
    begun === undefined ? nextBatch(view, move, movedAtOnce(view, way)) : begunBatch(view, move, begun.upToId);
  const isNew = context.id === null && messages.length > 0;
  const taken = isNew && begun === undefined ? [effects.setCounter("recipient", id)] : [];
  const { afterUserId, becomesRead = [] } = begun ?? { afterUserId: 0 };
  const moved = { ...way, messages, isNew, upToId: move.upToId, afterUserId, becomesRead };
  const readState = transferReadState(view, moved);
  if (readState.onward !== null) {
    const { onward, becomesRead: later } = readState;
    const begins = { conversationId: id, upToId: lastSeen, afterUserId: onward, becomesRead: later };
    const rest = command(request.to, "messages.import", { ...move, begun: begins }, null);
    return done({}, [...taken, ...readState.rows, effects.continueNextTurn(rest)]);
  }
  const ids = messages.map((message) => message.id);
  const all: Effect[] = [
    ...taken,
    ...(isNew ? [effects.put("topicNames", [move.to.channelId, fold(move.to.topic)], { id })] : []),
    ...messages.flatMap((message) => movedRows(view, message, move, id)),
    ...(messages.length === 0 ? [] : arrivalEffects(context, view, move, ids)),
    ...departureOf(view, moved),
    ...readState.rows,
  ];
  const count = move.count + messages.length;
  const after = messages.length === 0 ? {} : arrived(context, id, ids);
  const state = isNew ? "open" : undefined;
  if (!hasMore)
    return done({}, [...all, ...finished(view, { ...move, to: presentPlace(context, move), count })], after, state);
  const to = context.id === null && !isNew ? target : ({ actor: "conversation", id } as const);
  const rest = { ...move, count, afterId: lastSeen };
  return done({}, [...all, effects.send(command(to, "messages.import", rest, null))], after, state);
}

/** The target may have been renamed since the move began: notices and policies use its current name. */
function presentPlace({ id, topic }: TopicContext, { to }: MessageMove): MessageMove["to"] {
  return id === null ? to : { channelId: to.channelId, topic };
}

interface Batch {
  /** Ascending. */
  readonly messages: readonly MessageRecord[];
  readonly lastSeen: number;
  readonly hasMore: boolean;
}

/** Bounded by number and size, because their rows are rewritten in one turn. */
function nextBatch(view: View, move: MessageMove, most: number): Batch {
  const keys = view.keys("conversationMessages", {
    start: [move.conversationId, move.afterId + 1],
    end: [move.conversationId, move.upToId + 1],
    limit: most + 1,
  });
  const isSeen = visibilityOf(view, move);
  const messages: MessageRecord[] = [];
  let characters = 0;
  let examined = 0;
  for (const [, id] of keys.slice(0, most)) {
    if (characters >= limits.move_batch_characters) break;
    examined++;
    const message = isSeen(id) ? view.row("messages", id) : undefined;
    if (message === undefined) continue;
    messages.push(message);
    characters += message.content.length + message.rendered.length;
  }
  return { messages, lastSeen: keys[examined - 1]?.[1] ?? move.upToId, hasMore: keys.length > examined };
}

/** The same batch again, without messages deleted meanwhile. */
function begunBatch(view: View, move: MessageMove, upToId: number): Batch {
  const { messages } = nextBatch(view, { ...move, upToId }, limits.move_batch_messages);
  const range = { start: [move.conversationId, upToId + 1], end: [move.conversationId, move.upToId + 1], limit: 1 };
  return { messages, lastSeen: upToId, hasMore: view.keys("conversationMessages", range).length > 0 };
}

/**
 * In protected history, a user moves the messages they could see when they made the request. Unsubscribing does not
 * stop the move.
 */
function visibilityOf(view: View, { from, isLimitedToVisible, movedById }: MessageMove): (id: number) => boolean {
  if (!isLimitedToVisible) return () => true;
  const periods = view.subscriptions.get(movedById, from.channelId)?.periods ?? [];
  return (id) => hasReceived(periods, id);
}

function movedRows(view: View, message: MessageRecord, move: MessageMove, id: number): Effect[] {
  const { conversationId, from, to } = move;
  const moves = movesOf(view, message, move);
  return [
    effects.remove("conversationMessages", [conversationId, message.id]),
    ...(from.channelId === to.channelId ? [] : [effects.remove("channelMessages", [from.channelId, message.id])]),
    ...messageRows(
      { ...message, conversationId: id, moves, traits: traitsInChannel(message.traits, from.channelId, to.channelId) },
      to.channelId,
    ),
  ];
}

/** Appends this move to the message's moves, which are bounded. */
function movesOf(view: View, { moves }: MessageRecord, { moveId, from, to }: MessageMove): readonly number[] {
  const all = [...moves, moveId];
  if (all.length <= limits.message_history_entries_max) return all;
  const forgotten = forgottenMove(all, (known) => {
    if (known === moveId) return leadsElsewhere(from, to);
    const row = view.row("messageMoves", known);
    if (row === undefined) return false;
    return leadsElsewhere({ channelId: row.prevChannelId, topic: row.prevTopic }, row);
  });
  return all.filter((known) => known !== forgotten);
}

function arrivalEffects(context: TopicContext, view: View, move: MessageMove, ids: readonly number[]): Effect[] {
  const former = view.row("conversations", move.conversationId)?.topic ?? move.from.topic;
  const present = context.id === null ? move.to.topic : context.topic;
  return [
    ...moveEvents(view, move, ids, { former, present }),
    ...flagsLost(view, ids, move.from.channelId, move.to.channelId),
    effects.send(command({ actor: "conversation", id: move.conversationId }, "topic.refreshLastMessage", {}, null)),
  ];
}

function arrived(context: TopicContext, id: number, ids: readonly number[]): Partial<TopicContext> {
  return { id, lastMessageId: Math.max(context.lastMessageId, ids.at(-1) ?? 0) };
}

function finished(view: View, move: MessageMove): Effect[] {
  const { from, to } = move;
  const channels = from.channelId === to.channelId ? [] : [from.channelId, to.channelId];
  return [
    ...channels.map((channelId) =>
      effects.send(command({ actor: "realm" }, "channel.find-first-message", { channelId }, null)),
    ),
    ...(move.isWhole ? moveUserTopics(view, { from, to, isMerge: move.target !== "free" }) : []),
    ...(move.count === 0 ? [] : arrivalNotices(view, move)),
    moveEnd(move),
  ];
}

/** Sent last, so that the notices have been posted when the request is answered. */
export function moveEnd({ conversationId, moveId, waiting, detachedUploads = [] }: MessageMove): Effect {
  const end = { moveId, waiting, detachedUploads };
  return effects.send(command({ actor: "conversation", id: conversationId }, "topic.move-ended", end, null));
}

/** A deletion of the topic may be waiting for the end of the move. */
export function wakeDeletion({ channelId, topic }: TopicContext): Effect[] {
  return channelId === null
    ? []
    : [effects.send(command({ actor: "topic-deletion", channelId, topic }, "topic-deletion.move-ended", {}, null))];
}

/** In the source conversation, even if it is empty now: releases it for the next move, and answers the request. */
export function endMove(
  context: TopicContext,
  request: Command<"topic.move-ended">,
  view: View,
): Outcome<TopicContext> {
  const { moveId, waiting } = request.params;
  const isWaiting = waiting !== null && waiting.boot === view.counter("boot");
  const replies = isWaiting ? [effects.reply(waiting.ticket, answerOf(request.params))] : [];
  if (context.movingId !== moveId) return done({}, replies);
  return done({}, [...replies, ...wakeDeletion(context)], { movingId: null }, "open");
}

export const movesDecisions = {
  "messages.import": importMessages,
  "topic.move-ended": endMove,
} as const;
