/**
 * Messages that go to another conversation: parts of a topic, a topic that joins another one, a topic that goes to another
 * channel. The conversation that they go to takes them in, oldest first, a batch a turn, and tells itself to go on; what is left
 * stands in the command, so that a crash finds the messages at a batch boundary and the rest follows after the restart (M3).
 * Meanwhile the topic that they leave takes posts as ever (they are newer than the move and stay), is deleted from as ever (what
 * has gone survives), and is not moved or renamed by anybody else.
 */
import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import type { MessageRecord } from "../../schemas/records.ts";
import { forgottenMove, leadsElsewhere } from "../../src/domain/message-rules.ts";
import { hasReceived } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import type { MessageMove } from "../commands/messages.ts";
import { type Command, command } from "../commands.ts";
import { type Done, done, type Outcome } from "../decide.ts";
import { type Answer, type Effect, effects } from "../effects.ts";
import { carriedAtOnce, carryReadState, departureOf, traitsInChannel } from "../realm/read-state.ts";
import { moveUserTopics } from "../realm/user-topics.ts";
import { messageRows } from "./content.ts";
import { flagsLost } from "./flag-holders.ts";
import type { TopicContext } from "./machine.ts";
import { arrivalNotices } from "./move-notices.ts";
import type { PlannedMove } from "./move-plan.ts";
import { moveEvents } from "./update-events.ts";

/** With the files that nothing links to any more, after a change of content in the same request. */
export function answerOf({ detachedUploads = [] }: Pick<MessageMove, "detachedUploads">): Answer {
  return { detached_uploads: detachedUploads };
}

/** In the conversation that is left: the move is written down, and the target is told. */
export function startMove(
  view: View,
  { isRename: _is, ...move }: PlannedMove,
  beside: readonly Effect[],
): Outcome<TopicContext> {
  const { moveId, conversationId, from, to, movedById: userId } = move;
  const prevTopic = view.row("conversations", conversationId)?.topic ?? from.topic;
  const started: Done<TopicContext> = done(
    null,
    [
      ...beside,
      effects.count("move", moveId),
      effects.put("messageMoves", moveId, {
        userId,
        at: move.at,
        fromId: conversationId,
        prevChannelId: from.channelId,
        channelId: to.channelId,
        prevTopic,
        topic: to.topic,
      }),
      effects.tell(command({ actor: "topic", ...to }, "messages.take-in", move, null)),
    ],
    { movingId: moveId },
  );
  return { ...started, keptAnswer: answerOf(move) };
}

/** In the conversation that they go to. */
export function takeIn(context: TopicContext, asked: Command<"messages.take-in">, view: View): Outcome<TopicContext> {
  const { begun, ...move } = asked.params;
  const target = { actor: "topic", ...move.to } as const;
  // All that had come was deleted again: the name begins anew.
  if (context.id === null && asked.to.actor !== "topic") {
    return done({}, [effects.tell(command(target, "messages.take-in", move, null))]);
  }
  const id = context.id ?? begun?.conversationId ?? view.counter("recipient") + 1;
  const way = {
    from: { id: move.conversationId, channelId: move.from.channelId },
    to: { id, channelId: move.to.channelId },
  };
  const { messages, lastSeen, hasMore } =
    begun === undefined ? nextBatch(view, move, carriedAtOnce(view, way)) : begunBatch(view, move, begun.upToId);
  const isNew = context.id === null && messages.length > 0;
  const taken = isNew && begun === undefined ? [effects.count("recipient", id)] : [];
  const moved = { ...way, messages, isNew, upToId: move.upToId, afterUserId: begun?.afterUserId ?? 0 };
  const readState = carryReadState(view, moved);
  if (readState.onward !== null) {
    const begins = { conversationId: id, upToId: lastSeen, afterUserId: readState.onward };
    const rest = command(asked.to, "messages.take-in", { ...move, begun: begins }, null);
    return done({}, [...taken, ...readState.rows, effects.goOn(rest)]);
  }
  const ids = messages.map((message) => message.id);
  const all: Effect[] = [
    ...taken,
    ...(isNew ? [effects.put("topicNames", [move.to.channelId, fold(move.to.topic)], { id })] : []),
    ...messages.flatMap((message) => carried(view, message, move, id)),
    ...(messages.length === 0 ? [] : arrivalEffects(context, view, move, ids)),
    ...departureOf(view, moved),
    ...readState.rows,
  ];
  const count = move.count + messages.length;
  const after = messages.length === 0 ? {} : arrived(context, id, ids);
  if (!hasMore)
    return done({}, [...all, ...finished(view, { ...move, to: presentPlace(context, move), count })], after);
  const to = context.id === null && !isNew ? target : ({ actor: "conversation", id } as const);
  const rest = { ...move, count, afterId: lastSeen };
  return done({}, [...all, effects.tell(command(to, "messages.take-in", rest, null))], after);
}

/** The topic may have got another name since the move began: it is told there, and people's policies follow it there. */
function presentPlace({ id, topic }: TopicContext, { to }: MessageMove): MessageMove["to"] {
  return id === null ? to : { channelId: to.channelId, topic };
}

interface Batch {
  /** Ascending. */
  readonly messages: readonly MessageRecord[];
  readonly lastSeen: number;
  readonly hasMore: boolean;
}

/** Bounded by number and by size: their rows are written anew, all in one turn. */
function nextBatch(view: View, move: MessageMove, most: number): Batch {
  const keys = view.keys("conversationMessages", {
    start: [move.conversationId, move.afterId + 1],
    end: [move.conversationId, move.upToId + 1],
    limit: most + 1,
  });
  const isSeen = sightOf(view, move);
  const messages: MessageRecord[] = [];
  let characters = 0;
  let looked = 0;
  for (const [, id] of keys.slice(0, most)) {
    if (characters >= limits.move_batch_characters) break;
    looked++;
    const message = isSeen(id) ? view.row("messages", id) : undefined;
    if (message === undefined) continue;
    messages.push(message);
    characters += message.content.length + message.rendered.length;
  }
  return { messages, lastSeen: keys[looked - 1]?.[1] ?? move.upToId, hasMore: keys.length > looked };
}

/** The same one again, as far as it is there still. */
function begunBatch(view: View, move: MessageMove, upToId: number): Batch {
  const { messages } = nextBatch(view, { ...move, upToId }, limits.move_batch_messages);
  const range = { start: [move.conversationId, upToId + 1], end: [move.conversationId, move.upToId + 1], limit: 1 };
  return { messages, lastSeen: upToId, hasMore: view.keys("conversationMessages", range).length > 0 };
}

/**
 * In protected history, whoever moves messages moves those that they saw when they asked: what they received. Since then they may
 * have left, and their move goes on.
 */
function sightOf(view: View, { from, isLimitedToSight, movedById }: MessageMove): (id: number) => boolean {
  if (!isLimitedToSight) return () => true;
  const stays = view.subscriptions.get(movedById, from.channelId)?.stays ?? [];
  return (id) => hasReceived(stays, id);
}

function carried(view: View, message: MessageRecord, move: MessageMove, id: number): Effect[] {
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

/** As many as are kept, with this one. */
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
    effects.tell(command({ actor: "conversation", id: move.conversationId }, "topic.recount", {}, null)),
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
      effects.tell(command({ actor: "realm" }, "channel.find-first-message", { channelId }, null)),
    ),
    ...(move.isWhole ? moveUserTopics(view, { from, to, isMerge: move.target !== "free" }) : []),
    ...(move.count === 0 ? [] : arrivalNotices(view, move)),
    moveEnd(move),
  ];
}

/** Told last: whoever is answered finds the notices posted. */
export function moveEnd({ conversationId, moveId, waiting, detachedUploads = [] }: MessageMove): Effect {
  const end = { moveId, waiting, detachedUploads };
  return effects.tell(command({ actor: "conversation", id: conversationId }, "topic.move-ended", end, null));
}

/** In the conversation that was left, or what is left of it: it can be moved from again, and whoever still waits is answered. */
export function endMove(context: TopicContext, asked: Command<"topic.move-ended">, view: View): Outcome<TopicContext> {
  const { moveId, waiting } = asked.params;
  const isWaiting = waiting !== null && waiting.boot === view.counter("boot");
  const replies = isWaiting ? [effects.reply(waiting.ticket, answerOf(asked.params))] : [];
  return context.movingId === moveId ? done({}, replies, { movingId: null }) : done({}, replies);
}
