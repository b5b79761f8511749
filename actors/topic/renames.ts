/**
 * Renames a topic by changing its conversation's row, its name's row and one row of history, regardless of the number
 * of messages (architecture, Moves). Clients still receive the change of each message. In a large topic the events
 * continue in follow-up commands, and the last of them answers the request.
 */

import { forgottenMove, leadsElsewhere } from "../../domain/message-rules.ts";
import type { View } from "../../domain/view.ts";
import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import type { MessageMove } from "../../schemas/message-changes.ts";
import { type Command, command, type Done, done, type Effect, effects, type Outcome } from "../protocol/decision.ts";
import { moveUserTopics } from "../rules/user-topic-moves.ts";
import type { TopicContext } from "./context.ts";
import { moveNotices, toggleNotice } from "./move-notices.ts";
import type { PlannedMove } from "./move-plan.ts";
import { answerOf, moveEnd } from "./moves.ts";
import { refileTopic } from "./search.ts";
import { type ContentUpdate, moveEvents } from "./update-events.ts";

interface OtherEffects {
  /** A content edit in the same request, and its part of the event. */
  readonly content: readonly Effect[];
  readonly update: ContentUpdate;
}

export function renameTopic(
  context: TopicContext,
  view: View,
  { isRename: _is, ...planned }: PlannedMove,
  others: OtherEffects,
): Outcome<TopicContext> {
  // All messages, whichever one the request named: a topic has one name.
  const range = { afterId: 0, upToId: context.lastMessageId };
  const move = { ...planned, ...range };
  const ids = idsAfter(view, move);
  const renamed: Partial<TopicContext> = { topic: move.to.topic, renames: context.renames + 1 };
  const all = [...others.content, ...renameRows(context, view, move)];
  const notice = toggleNotice(context, view, move);
  if (ids.length <= limits.event_ids_per_piece_max) {
    const whole = { ...move, count: ids.length };
    const withEvents = [...all, ...moveEvents(view, whole, ids, namesOf(move), others.update)];
    const notices = [...notice, ...moveNotices(view, whole)];
    if (notices.length === 0) return done(answerOf(move), withEvents, renamed);
    const noticing: Done<TopicContext> = done(null, [...withEvents, ...notices, moveEnd(move)], renamed);
    return { ...noticing, keptAnswer: answerOf(move) };
  }
  const rest = command({ actor: "conversation", id: move.conversationId }, "topic.announce-rename", move, null);
  const moving = { ...renamed, movingId: move.moveId };
  const waiting: Done<TopicContext> = done(null, [...all, ...notice, effects.send(rest)], moving, "moving");
  return { ...waiting, keptAnswer: answerOf(move) };
}

function namesOf({ from, to }: MessageMove) {
  return { former: from.topic, present: to.topic };
}

/** One more than fits into an event, to detect whether any are left. */
function idsAfter(view: View, { conversationId, afterId, upToId }: MessageMove): number[] {
  const limit = limits.event_ids_per_piece_max + 1;
  const range = { start: [conversationId, afterId + 1], end: [conversationId, upToId + 1], limit };
  return view.keys("conversationMessages", range).map(([, id]) => id);
}

function renameRows(context: TopicContext, view: View, move: MessageMove): Effect[] {
  const { conversationId, moveId, from, to } = move;
  const names = [fold(from.topic), fold(to.topic)];
  return [
    effects.setCounter("move", moveId),
    ...(names[0] === names[1]
      ? []
      : [
          effects.remove("topicNames", [from.channelId, fold(from.topic)]),
          effects.put("topicNames", [to.channelId, fold(to.topic)], { id: conversationId }),
        ]),
    effects.put("topicRenames", [conversationId, moveId], {
      userId: move.movedById,
      at: move.at,
      prevTopic: from.topic,
      topic: to.topic,
      upToId: context.lastMessageId,
    }),
    ...pruned(context, view, move),
    refileTopic(conversationId),
    ...moveUserTopics(view, { from, to, isMerge: false }),
  ];
}

/** The number of stored names is bounded; the oldest are dropped (S3). */
function pruned(context: TopicContext, view: View, { conversationId, from, to }: MessageMove): Effect[] {
  const limit = limits.message_history_entries_max;
  if (context.renames < limit) return [];
  const names = view.rows("topicRenames", { start: [conversationId], end: [conversationId + 1], limit });
  const known = names.map(({ key, row: { prevTopic, topic } }) => ({ key, prevTopic, topic }));
  const { channelId } = to;
  const forgotten = forgottenMove([...known, { key: null, prevTopic: from.topic, topic: to.topic }], (name) =>
    leadsElsewhere({ channelId, topic: name.prevTopic }, { channelId, topic: name.topic }),
  );
  return forgotten === undefined || forgotten.key === null ? [] : [effects.remove("topicRenames", forgotten.key)];
}

/** Emits the event of the rename for the next messages of a large topic. Messages deleted meanwhile are skipped. */
export function announceRename(
  context: TopicContext,
  request: Command<"topic.announce-rename">,
  view: View,
): Outcome<TopicContext> {
  const move = request.params;
  const ids = context.id === null ? [] : idsAfter(view, move);
  const chunk = ids.slice(0, limits.event_ids_per_piece_max);
  const count = move.count + chunk.length;
  const withEvents = chunk.length === 0 ? [] : moveEvents(view, move, chunk, namesOf(move));
  if (chunk.length < ids.length) {
    const rest = { ...move, count, afterId: chunk.at(-1) ?? move.upToId };
    return done({}, [...withEvents, effects.send(command(request.to, "topic.announce-rename", rest, null))]);
  }
  const notices = count === 0 ? [] : moveNotices(view, { ...move, count });
  return done({}, [...withEvents, ...notices, moveEnd(move)]);
}

export const renamesDecisions = {
  "topic.announce-rename": announceRename,
} as const;
