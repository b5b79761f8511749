/**
 * Users' topic policies follow a topic that moves as a whole (public API: update-message), and are removed when the
 * topic is deleted (behaviour 7). Both work in slices, so that thousands of followers cause no long turn. A move
 * processes users with a policy on the target first, then those with one on the source. In between, only commands run
 * that depend on no policy for either topic (kinds.ts, `mayRunBetween`), because policies are found by topic name.
 */

import { canReadChannelMessage } from "../../domain/permissions.ts";
import { canSeeTopic, conversationsNamed } from "../../domain/topic-visibility.ts";
import { mergedPolicy, topicHolders, visibilityPolicy } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import { fold } from "../../schemas/fold.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import { type TopicEnd, type TopicMove, type TopicPolicy, topicPolicies } from "../../schemas/user-topics.ts";
import { command, type Effect, effects } from "../protocol/decision.ts";
import { mutedTopicsEvent, type TopicAddress, topicPolicyRows, userTopicEvent } from "./user-topics.ts";

/**
 * Moves users' policies with a whole topic. The first slice runs at once, the others in follow-up commands. If the
 * target had messages (`isMerge`), the more visible policy wins; otherwise the source's policy is used.
 */
export function moveUserTopics(view: View, move: Pick<TopicMove, "from" | "to" | "isMerge">): Effect[] {
  return moveSlice(view, { ...move, phase: "target", afterUserId: 0 });
}

/** One slice of moving users' policies with a topic. */
export function moveSlice(view: View, move: TopicMove): Effect[] {
  const { from, to, phase, afterUserId } = move;
  const isRespelt = from.channelId === to.channelId && fold(from.topic) === fold(to.topic);
  if (isRespelt && phase === "target") return moveSlice(view, { ...move, phase: "source" });
  const limit = limits.user_topics_per_command_max;
  const { channelId, topic } = phase === "source" ? from : to;
  const holders = topicHolders(view, channelId, topic, { afterUserId, limit });
  const ids = holders.map(({ userId }) => userId);
  const all = isRespelt ? respell(view, to, holders) : movePolicies(view, move, ids);
  const next = nextSlice(move, ids.length === limit ? ids.at(-1) : undefined);
  if (next === null) return all;
  // Usually few or no users are affected, so the second phase needs no command of its own.
  if (ids.length === 0) return [...all, ...moveSlice(view, next)];
  // Continues in the next turn before any command that could rename either topic again or set policies on a new topic
  // with the old name.
  return [...all, effects.continueNextTurn(command({ actor: "realm" }, "user-topics.move", next, null))];
}

function nextSlice(move: TopicMove, lastId: number | undefined): TopicMove | null {
  if (lastId !== undefined) return { ...move, afterUserId: lastId };
  return move.phase === "target" ? { ...move, phase: "source", afterUserId: 0 } : null;
}

/**
 * Removes users' policies for a deleted topic. The first slice runs at once, the others in follow-up commands. Users
 * who could not read any of its messages receive nothing (S1) and keep their policy for the name.
 */
export function endUserTopics(view: View, end: Omit<TopicEnd, "afterUserId">): Effect[] {
  return endSlice(view, { ...end, afterUserId: 0 });
}

/** One slice of removing users' policies for a deleted topic. */
export function endSlice(view: View, end: TopicEnd): Effect[] {
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
  return [...all, effects.continueNextTurn(command({ actor: "realm" }, "user-topics.end", next, null))];
}

interface Changes {
  readonly rows: Effect[];
  /** By topic, in the spelling that clients know: the users whose policy is reset. */
  readonly left: Map<string, { readonly place: TopicAddress; readonly userIds: UserId[] }>;
  /** By policy: the users whose policy for the target changes to it. */
  readonly reached: Map<TopicPolicy, number[]>;
  readonly muting: Set<number>;
}

function movePolicies(view: View, { from, to, isMerge, phase }: TopicMove, userIds: readonly UserId[]): Effect[] {
  const changes: Changes = { rows: [], left: new Map(), reached: new Map(), muting: new Set() };
  const [source, target] = [view.channels.get(from.channelId), view.channels.get(to.channelId)];
  if (source === undefined || target === undefined) return [];
  // When the first slice runs, some of the messages may not have moved yet.
  const conversations = conversationsNamed(view, [from, to]);
  for (const userId of userIds) {
    const user = view.users.get(userId);
    if (user === undefined) continue;
    const before = visibilityPolicy(view, userId, from.channelId, from.topic);
    // Users with a policy on the source are handled in the second phase.
    if (phase === "target" && before !== topicPolicies.none) continue;
    const there = visibilityPolicy(view, userId, to.channelId, to.topic);
    const arrives = canSeeTopic(view, user, target, conversations);
    // A user who can read the topic in neither place must not learn about the move (S1), so their policy is
    // unchanged.
    if (!arrives && !canSeeTopic(view, user, source, conversations)) continue;
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
  { userId, place, policy }: { userId: UserId; place: TopicAddress; policy: TopicPolicy },
): void {
  rows.push(...topicPolicyRows(view, userId, place, topicPolicies.none));
  forget(left, userId, { ...place, topic: knownSpelling(view, userId, place) });
  if (policy === topicPolicies.muted) muting.add(userId);
}

function reach(
  view: View,
  { rows, left, reached, muting }: Changes,
  { userId, place, policy, before }: { userId: UserId; place: TopicAddress; policy: TopicPolicy; before: TopicPolicy },
): void {
  rows.push(...topicPolicyRows(view, userId, place, policy));
  const others = reached.get(policy);
  if (others === undefined) reached.set(policy, [userId]);
  else others.push(userId);
  // Clients compare names case-insensitively but without Unicode normalization, so the former spelling may be another
  // topic to them.
  const known = knownSpelling(view, userId, place);
  if (known.toLowerCase() !== place.topic.toLowerCase()) forget(left, userId, { ...place, topic: known });
  if (policy === topicPolicies.muted || before === topicPolicies.muted) muting.add(userId);
}

function knownSpelling(view: View, userId: UserId, { channelId, topic }: TopicAddress): string {
  return view.row("userTopics", [userId, channelId, fold(topic)])?.topic ?? topic;
}

function forget(left: Changes["left"], userId: UserId, place: TopicAddress): void {
  const key = `${place.channelId}:${place.topic}`;
  const others = left.get(key);
  if (others === undefined) left.set(key, { place, userIds: [userId] });
  else others.userIds.push(userId);
}

function effectsOf(view: View, { rows, left, reached, muting }: Changes, to: TopicAddress): Effect[] {
  return [
    ...rows,
    ...(muting.size === 0 ? [] : [mutedTopicsEvent([...muting])]),
    ...[...left.values()].map(({ place, userIds }) =>
      userTopicEvent(view, { userIds, place, policy: topicPolicies.none }),
    ),
    ...[...reached].map(([policy, userIds]) => userTopicEvent(view, { userIds, place: to, policy })),
  ];
}

/** The topic's spelling changed: its readers receive the new spelling. */
function respell(view: View, to: TopicAddress, holders: ReturnType<typeof topicHolders>): Effect[] {
  const changes: Changes = { rows: [], left: new Map(), reached: new Map(), muting: new Set() };
  const channel = view.channels.get(to.channelId);
  if (channel === undefined) return [];
  const conversations = conversationsNamed(view, [to]);
  for (const { userId, policy } of holders) {
    const user = view.users.get(userId);
    if (user === undefined || !canSeeTopic(view, user, channel, conversations)) continue;
    reach(view, changes, { userId, place: to, policy, before: policy });
  }
  return effectsOf(view, changes, to);
}
