/**
 * Policies go along with a topic that moves as a whole, by a rename or into another channel (public API: update-message), and end
 * with one that is deleted (behaviour 7). Both in slices, so that a topic which thousands follow makes no long turn; of a move,
 * those who had a policy for the target first, those of the source after them. All of them go before anything else is decided:
 * they are found by the topics' names.
 */
import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import { canReadChannelMessage } from "../../src/domain/permissions.ts";
import { conversationsNamed, knowsTopic } from "../../src/domain/topic-sight.ts";
import {
  mergedPolicy,
  type TopicPolicy,
  topicHolders,
  topicPolicies,
  visibilityPolicy,
} from "../../src/domain/user-topics.ts";
import type { View } from "../../src/domain/view.ts";
import { type Command, command, type TopicEnd, type TopicMove } from "../commands.ts";
import { done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { mutedTopicsEvent, type TopicPlace, topicPolicyRows, userTopicEvent } from "../user/user-topics.ts";

/**
 * What the move of a whole topic does to people's policies: the first slice at once, the rest by commands of its own. Where
 * the target had messages (`isMerge`), of two policies the one that shows more wins; else the source's counts.
 */
export function moveUserTopics(view: View, move: Pick<TopicMove, "from" | "to" | "isMerge">): Effect[] {
  return sliceEffects(view, { ...move, phase: "target", afterUserId: 0 });
}

/** One more slice. */
export function continueTopicMove(_context: unknown, asked: Command<"user-topics.move">, view: View): Outcome {
  return done({}, sliceEffects(view, asked.params));
}

function sliceEffects(view: View, move: TopicMove): Effect[] {
  const { from, to, phase, afterUserId } = move;
  const isRespelt = from.channelId === to.channelId && fold(from.topic) === fold(to.topic);
  if (isRespelt && phase === "target") return sliceEffects(view, { ...move, phase: "source" });
  const limit = limits.user_topics_per_command_max;
  const { channelId, topic } = phase === "source" ? from : to;
  const holders = topicHolders(view, channelId, topic, { afterUserId, limit });
  const ids = holders.map(({ userId }) => userId);
  const all = isRespelt ? respell(view, to, holders) : carry(view, move, ids);
  const next = nextSlice(move, ids.length === limit ? ids.at(-1) : undefined);
  if (next === null) return all;
  // Mostly nobody, or a few: the second phase needs no command of its own then.
  if (ids.length === 0) return [...all, ...sliceEffects(view, next)];
  // Nothing comes in between: another name for either topic, or what people think of a new one under the old name.
  return [...all, effects.goOn(command({ actor: "realm" }, "user-topics.move", next, null))];
}

function nextSlice(move: TopicMove, lastId: number | undefined): TopicMove | null {
  if (lastId !== undefined) return { ...move, afterUserId: lastId };
  return move.phase === "target" ? { ...move, phase: "source", afterUserId: 0 } : null;
}

/**
 * A topic was deleted, all of it: the first slice at once, the rest by commands of its own. Who could read nothing of it learns
 * nothing of its end (S1), and keeps what they set for the name.
 */
export function endUserTopics(view: View, end: Omit<TopicEnd, "afterUserId">): Effect[] {
  return endEffects(view, { ...end, afterUserId: 0 });
}

/** One more slice. */
export function continueTopicEnd(_context: unknown, asked: Command<"user-topics.end">, view: View): Outcome {
  return done({}, endEffects(view, asked.params));
}

function endEffects(view: View, end: TopicEnd): Effect[] {
  const { place, messageIds, at, afterUserId } = end;
  const channel = view.channels.get(place.channelId);
  if (channel === undefined) return [];
  const limit = limits.user_topics_per_command_max;
  const holders = topicHolders(view, place.channelId, place.topic, { afterUserId, limit });
  const changes: Changes = { rows: [], left: new Map(), reached: new Map(), muting: new Set() };
  for (const { userId, policy } of holders) {
    const user = view.users.get(userId);
    const changedAt = view.row("userTopics", [userId, place.channelId, fold(place.topic)])?.changedAt ?? 0;
    if (user === undefined || changedAt > at) continue;
    if (!messageIds.some((id) => canReadChannelMessage(view, user, channel, id))) continue;
    leave(view, changes, { userId, place, policy });
  }
  const all = effectsOf(view, changes, place);
  const last = holders.length === limit ? holders.at(-1) : undefined;
  if (last === undefined) return all;
  const next = { ...end, afterUserId: last.userId };
  return [...all, effects.goOn(command({ actor: "realm" }, "user-topics.end", next, null))];
}

interface Changes {
  readonly rows: Effect[];
  /** By place, in the spelling that clients know: whose policy for it is none from now on. */
  readonly left: Map<string, { readonly place: TopicPlace; readonly userIds: number[] }>;
  /** By policy: whose policy for the target is this one from now on. */
  readonly reached: Map<TopicPolicy, number[]>;
  readonly muting: Set<number>;
}

function carry(view: View, { from, to, isMerge, phase }: TopicMove, userIds: readonly number[]): Effect[] {
  const changes: Changes = { rows: [], left: new Map(), reached: new Map(), muting: new Set() };
  const [source, target] = [view.channels.get(from.channelId), view.channels.get(to.channelId)];
  if (source === undefined || target === undefined) return [];
  // The first slice is decided when some of the messages are still where they were.
  const conversations = conversationsNamed(view, [from, to]);
  for (const userId of userIds) {
    const user = view.users.get(userId);
    if (user === undefined) continue;
    const before = visibilityPolicy(view, userId, from.channelId, from.topic);
    // In the first phase, who has a policy for the source waits for the second.
    if (phase === "target" && before !== topicPolicies.none) continue;
    const there = visibilityPolicy(view, userId, to.channelId, to.topic);
    const arrives = knowsTopic(view, user, target, conversations);
    // Who can read it in neither place learns nothing of the move (S1): what they set stays where it was.
    if (!arrives && !knowsTopic(view, user, source, conversations)) continue;
    if (before !== topicPolicies.none) leave(view, changes, { userId, place: from, policy: before });
    if (!arrives) continue;
    const after = isMerge ? mergedPolicy(before, there) : before;
    if (after !== there) reach(view, changes, { userId, place: to, policy: after, before: there });
  }
  return effectsOf(view, changes, to);
}

function leave(
  view: View,
  { rows, left, muting }: Changes,
  { userId, place, policy }: { userId: number; place: TopicPlace; policy: TopicPolicy },
): void {
  rows.push(...topicPolicyRows(view, userId, place, topicPolicies.none));
  forget(left, userId, { ...place, topic: knownSpelling(view, userId, place) });
  if (policy === topicPolicies.muted) muting.add(userId);
}

function reach(
  view: View,
  { rows, left, reached, muting }: Changes,
  { userId, place, policy, before }: { userId: number; place: TopicPlace; policy: TopicPolicy; before: TopicPolicy },
): void {
  rows.push(...topicPolicyRows(view, userId, place, policy));
  const others = reached.get(policy);
  if (others === undefined) reached.set(policy, [userId]);
  else others.push(userId);
  // Clients compare without case, not without composition: the former spelling is another topic to them.
  const known = knownSpelling(view, userId, place);
  if (known.toLowerCase() !== place.topic.toLowerCase()) forget(left, userId, { ...place, topic: known });
  if (policy === topicPolicies.muted || before === topicPolicies.muted) muting.add(userId);
}

function knownSpelling(view: View, userId: number, { channelId, topic }: TopicPlace): string {
  return view.row("userTopics", [userId, channelId, fold(topic)])?.topic ?? topic;
}

function forget(left: Changes["left"], userId: number, place: TopicPlace): void {
  const key = `${place.channelId}:${place.topic}`;
  const others = left.get(key);
  if (others === undefined) left.set(key, { place, userIds: [userId] });
  else others.userIds.push(userId);
}

function effectsOf(view: View, { rows, left, reached, muting }: Changes, to: TopicPlace): Effect[] {
  return [
    ...rows,
    ...(muting.size === 0 ? [] : [mutedTopicsEvent([...muting])]),
    ...[...left.values()].map(({ place, userIds }) =>
      userTopicEvent(view, { userIds, place, policy: topicPolicies.none }),
    ),
    ...[...reached].map(([policy, userIds]) => userTopicEvent(view, { userIds, place: to, policy })),
  ];
}

/** The same topic, written differently: who may read it knows it by its new spelling. */
function respell(view: View, to: TopicPlace, holders: ReturnType<typeof topicHolders>): Effect[] {
  const changes: Changes = { rows: [], left: new Map(), reached: new Map(), muting: new Set() };
  const channel = view.channels.get(to.channelId);
  if (channel === undefined) return [];
  const conversations = conversationsNamed(view, [to]);
  for (const { userId, policy } of holders) {
    const user = view.users.get(userId);
    if (user === undefined || !knowsTopic(view, user, channel, conversations)) continue;
    reach(view, changes, { userId, place: to, policy, before: policy });
  }
  return effectsOf(view, changes, to);
}
