/**
 * A topic that gets another name: its conversation's row, its name's row and one row of history, however many messages it has
 * (architecture, Moves). Clients are told message by message all the same; in a large topic that goes on in commands of its own,
 * and the request is answered when everybody has been told.
 */
import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import { forgottenMove, leadsElsewhere } from "../../src/domain/message-rules.ts";
import type { View } from "../../src/domain/view.ts";
import type { MessageMove } from "../commands/messages.ts";
import { type Command, command } from "../commands.ts";
import { type Done, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { moveUserTopics } from "../realm/user-topics.ts";
import type { TopicContext } from "./machine.ts";
import { moveNotices, toggleNotice } from "./move-notices.ts";
import type { PlannedMove } from "./move-plan.ts";
import { answerOf, moveEnd } from "./moves.ts";
import { refileTopic } from "./search.ts";
import { type ContentUpdate, moveEvents } from "./update-events.ts";

interface Beside {
  /** A change of content in the same request, and how the event tells it. */
  readonly content: readonly Effect[];
  readonly update: ContentUpdate;
}

export function renameTopic(
  context: TopicContext,
  view: View,
  { isRename: _is, ...planned }: PlannedMove,
  beside: Beside,
): Outcome<TopicContext> {
  // Of every message, whichever was named: another spelling is the whole topic's.
  const range = { afterId: 0, upToId: context.lastMessageId };
  const move = { ...planned, ...range };
  const ids = idsAfter(view, move);
  const renamed: Partial<TopicContext> = { topic: move.to.topic, renames: context.renames + 1 };
  const all = [...beside.content, ...renameRows(context, view, move)];
  const notice = toggleNotice(context, view, move);
  if (ids.length <= limits.event_ids_per_piece_max) {
    const whole = { ...move, count: ids.length };
    const told = [...all, ...moveEvents(view, whole, ids, namesOf(move), beside.update)];
    const notices = [...notice, ...moveNotices(view, whole)];
    if (notices.length === 0) return done(answerOf(move), told, renamed);
    const noticing: Done<TopicContext> = done(null, [...told, ...notices, moveEnd(move)], renamed);
    return { ...noticing, keptAnswer: answerOf(move) };
  }
  const rest = command({ actor: "conversation", id: move.conversationId }, "topic.tell-rename", move, null);
  const waiting: Done<TopicContext> = done(null, [...all, ...notice, effects.tell(rest)], {
    ...renamed,
    movingId: move.moveId,
  });
  return { ...waiting, keptAnswer: answerOf(move) };
}

function namesOf({ from, to }: MessageMove) {
  return { former: from.topic, present: to.topic };
}

/** One more than are told in a piece, to know whether there are more. */
function idsAfter(view: View, { conversationId, afterId, upToId }: MessageMove): number[] {
  const limit = limits.event_ids_per_piece_max + 1;
  const range = { start: [conversationId, afterId + 1], end: [conversationId, upToId + 1], limit };
  return view.keys("conversationMessages", range).map(([, id]) => id);
}

function renameRows(context: TopicContext, view: View, move: MessageMove): Effect[] {
  const { conversationId, moveId, from, to } = move;
  const names = [fold(from.topic), fold(to.topic)];
  return [
    effects.count("move", moveId),
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

/** Of very many names the oldest are forgotten (S3). */
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

/** Tells of the next messages of a large topic. What was deleted meanwhile has no new name. */
export function tellRename(
  context: TopicContext,
  asked: Command<"topic.tell-rename">,
  view: View,
): Outcome<TopicContext> {
  const move = asked.params;
  const ids = context.id === null ? [] : idsAfter(view, move);
  const piece = ids.slice(0, limits.event_ids_per_piece_max);
  const count = move.count + piece.length;
  const told = piece.length === 0 ? [] : moveEvents(view, move, piece, namesOf(move));
  if (piece.length < ids.length) {
    const rest = { ...move, count, afterId: piece.at(-1) ?? move.upToId };
    return done({}, [...told, effects.tell(command(asked.to, "topic.tell-rename", rest, null))]);
  }
  const notices = count === 0 ? [] : moveNotices(view, { ...move, count });
  return done({}, [...told, ...notices, moveEnd(move)]);
}
