/** The request and the batches of a topic deletion (spec 4.13; D29, D30; behaviour 7). */

import { openChannel } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { Answer } from "../../schemas/answer.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { isRefusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import type { ConversationId, UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import {
  type Address,
  addressAs,
  type Command,
  command,
  done,
  type Effect,
  effects,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";
import { type MessageToDelete, removeMessages } from "../rules/message-rows.ts";
import { withinRows } from "../rules/removal-size.ts";
import { endUserTopics } from "../rules/user-topic-moves.ts";

export interface Waiter {
  readonly ticket: number;
  readonly deadline: number;
}

export interface TopicDeletionContext {
  /** null: nothing is to be deleted. */
  readonly conversationId: ConversationId | null;
  /** Messages up to this id are deleted; a later post keeps the topic (D29). */
  readonly highWaterId: number;
  /** The next batch starts here, so that it does not search where everything has been deleted. */
  readonly reachedId: number;
  /**
   * The newest message that is deleted: users who received it have seen the topic. 0: unknown, from a snapshot of
   * version 1.
   */
  readonly newestId: number;
  readonly actingUserId: UserId;
  /** Waiting requests, valid only during this `boot` of the realm. */
  readonly waiters: readonly Waiter[];
  readonly boot: number;
}

export const initialTopicDeletion: TopicDeletionContext = {
  conversationId: null,
  highWaterId: 0,
  reachedId: 0,
  newestId: 0,
  actingUserId: 0,
  waiters: [],
  boot: 0,
};

type Target = Extract<Address, { actor: "topic-deletion" }>;

export function requestDeletion(
  { deadline }: Params<"topic-deletion.request">,
  view: View,
  caller: UserRecord,
  request: Command<"topic-deletion.request">,
  context: TopicDeletionContext,
): Outcome<TopicDeletionContext> {
  const target = addressAs(request.to, "topic-deletion");
  const channel = openChannel(view, caller, target.channelId);
  if (isRefusal(channel)) return channel;
  const named = view.row("topicNames", [channel.id, fold(target.topic)]);
  const boot = view.counter("boot");
  const living = context.boot === boot ? context.waiters : [];
  // The topic was renamed or emptied meanwhile: waiting requests are answered together with this one.
  if (named === undefined) return complete({ complete: true }, living, []);
  if (living.length >= limits.topic_deletion_waiters_max) return refuse.overloaded();
  const waiters: Waiter[] = request.ticket === null ? [...living] : [...living, { ticket: request.ticket, deadline }];
  const highWaterId = view.counter("message");
  const isRepeated = context.conversationId === named.id;
  const newestId = isRepeated ? context.newestId : (newestMessages(view, named.id, highWaterId, 1)[0]?.id ?? 0);
  // Sent even while a deletion is running: if its next command became a dead letter (M6), this one restarts it. An
  // extra turn is harmless.
  const begun = {
    conversationId: named.id,
    highWaterId,
    reachedId: highWaterId,
    newestId,
    actingUserId: caller.id,
    waiters,
    boot,
  };
  return done(null, [effects.send(command(target, "topic-deletion.continue", {}, null))], begun, whileWaiting(waiters));
}

/** Deletes the newest batch. The deadline is checked afterwards, so every request makes progress. */
export function continueDeletion(
  context: TopicDeletionContext,
  request: Command<"topic-deletion.continue" | "topic-deletion.move-ended">,
  view: View,
): Outcome<TopicDeletionContext> {
  const target = addressAs(request.to, "topic-deletion");
  const channel = view.channels.get(target.channelId);
  if (context.conversationId === null) return complete({}, context.waiters, []);
  // After a restart no request is waiting: stop at this batch boundary. A repeated request continues the deletion.
  if (context.boot !== view.counter("boot")) return done({}, [], { waiters: [] }, "parked");
  if (channel === undefined) return complete({}, context.waiters, []);
  if (hasAnotherName(view, target, context.conversationId)) return complete({}, context.waiters, []);

  const size = view.isIdle ? limits.topic_deletion_batch_messages : limits.topic_deletion_batch_messages_busy;
  // One more than a batch, to detect whether any messages are left.
  const newest = newestMessages(view, context.conversationId, context.reachedId, size + 1);
  // A move was accepted before: the messages that it takes out of the topic survive.
  const isBeingMoved = (view.row("conversations", context.conversationId)?.movingId ?? null) !== null;
  const hasArrived = newest.length <= size && hasArrivals(view, context);
  if (isBeingMoved && (newest.length > 0 || hasArrived)) return waitForMove(context, target, view);
  const batch = withinRows(view, newest.slice(0, size)).fitting;
  const isLast = newest.length === batch.length;
  const all = batch.length === 0 ? [] : batchEffects(view, context, channel, target.topic, batch);
  if (isLast && !hasArrived)
    return complete({}, context.waiters, [...all, ...policyEnds(view, context, target, batch)]);
  const { patient, replies } = atDeadline(context, view);
  const onward = patient.length > 0 ? [effects.send(command(target, "topic-deletion.continue", {}, null))] : [];
  const reachedId = isLast ? context.highWaterId : (batch.at(-1)?.id ?? context.reachedId) - 1;
  return done({}, [...all, ...replies, ...onward], { waiters: patient, reachedId }, whileWaiting(patient));
}

/** A deletion continues only while a request waits for it. */
function whileWaiting(waiters: readonly Waiter[], state = "deleting"): string {
  return waiters.length > 0 ? state : "parked";
}

/** Whether messages were moved into the part of the topic that has been deleted. */
function hasArrivals(view: View, { conversationId, highWaterId, reachedId }: TopicDeletionContext): boolean {
  const id = conversationId ?? 0;
  const range = { start: [id, highWaterId], end: [id, reachedId], reverse: true, limit: 1 };
  return view.keys("conversationMessages", range).length > 0;
}

/** Splits the waiting requests at their deadlines, and answers those that have passed. */
function atDeadline({ waiters }: TopicDeletionContext, view: View) {
  const expired = waiters.filter((waiter) => waiter.deadline <= view.now);
  return {
    patient: waiters.filter((waiter) => waiter.deadline > view.now),
    replies: expired.map((waiter) => effects.reply(waiter.ticket, { complete: false })),
  };
}

/** The end of the move wakes the deletion; a durable timer answers the requests whose deadline comes first (M8). */
function waitForMove(context: TopicDeletionContext, target: Target, view: View): Outcome<TopicDeletionContext> {
  const { patient, replies } = atDeadline(context, view);
  const all = [...replies, ...nextDeadline(target, patient)];
  return done({}, all, { waiters: patient }, whileWaiting(patient, "waiting-for-move"));
}

function nextDeadline(target: Target, waiters: readonly Waiter[]): Effect[] {
  if (waiters.length === 0) return [];
  const dueAt = Math.min(...waiters.map(({ deadline }) => deadline));
  return [effects.schedule(dueAt, command(target, "topic-deletion.deadline", {}, null))];
}

/** The timer fired while the deletion still waits for the move. Every repeated request has set another one. */
export function expireWaiters(
  context: TopicDeletionContext,
  request: Command<"topic-deletion.deadline">,
  view: View,
): Outcome<TopicDeletionContext> {
  // After a restart no request is waiting.
  if (context.boot !== view.counter("boot")) return done({}, [], { waiters: [] }, "parked");
  const { patient, replies } = atDeadline(context, view);
  if (replies.length === 0) return done({}, []);
  const all = [...replies, ...nextDeadline(addressAs(request.to, "topic-deletion"), patient)];
  return done({}, all, { waiters: patient }, whileWaiting(patient, "waiting-for-move"));
}

/**
 * The topic was renamed meanwhile. Messages that leave a topic during its deletion survive, and the old name is empty.
 */
function hasAnotherName(view: View, { channelId, topic }: Target, conversationId: ConversationId): boolean {
  const named = view.row("conversations", conversationId);
  return named !== undefined && (named.channelId !== channelId || fold(named.topic) !== fold(topic));
}

/** Nothing is left to delete: all waiting requests are answered. */
function complete(answer: Answer, waiters: readonly Waiter[], all: readonly Effect[]): Outcome<TopicDeletionContext> {
  const replies = waiters.map((waiter) => effects.reply(waiter.ticket, { complete: true }));
  return done(answer, [...all, ...replies], { waiters: [], conversationId: null }, "idle");
}

/** Removing the last message ends the topic and users' policies for it (behaviour 7). A later post keeps both (D29). */
function policyEnds(
  view: View,
  context: TopicDeletionContext,
  place: Target,
  batch: readonly MessageToDelete[],
): Effect[] {
  const oldest = batch.at(-1);
  const [remaining] = newestMessages(view, context.conversationId ?? 0, Number.MAX_SAFE_INTEGER, 1);
  if (oldest === undefined || remaining?.id !== batch[0]?.id) return [];
  const { channelId, topic } = place;
  const messageIds = [oldest.id, context.newestId];
  return endUserTopics(view, { place: { channelId, topic }, messageIds, at: view.now });
}

/**
 * Handles a batch that became a dead letter (M6): answers the waiting requests with `complete: false`. They may be
 * repeated.
 */
export function abandonDeletion(
  context: TopicDeletionContext,
  _asked: Command<"topic-deletion.abandon">,
  view: View,
): Outcome<TopicDeletionContext> {
  const living = context.boot === view.counter("boot") ? context.waiters : [];
  const replies = living.map((waiter) => effects.reply(waiter.ticket, { complete: false }));
  return done({}, replies, { waiters: [] }, context.conversationId === null ? "idle" : "parked");
}

/** The newest messages up to the high-water id, newest first. */
function newestMessages(
  view: View,
  conversationId: ConversationId,
  highWaterId: number,
  limit: number,
): MessageToDelete[] {
  const rows = view.rows("conversationMessages", {
    start: [conversationId, highWaterId],
    end: [conversationId],
    reverse: true,
    limit,
  });
  return rows.map(({ key, row }) => ({ id: key[1], traits: row.traits }));
}

function batchEffects(
  view: View,
  context: TopicDeletionContext,
  channel: ChannelRecord,
  topic: string,
  batch: readonly MessageToDelete[],
): Effect[] {
  const id = context.conversationId ?? 0;
  const spelt = view.row("conversations", id)?.topic ?? topic;
  const place = { id, channelId: channel.id, topic: spelt, userIds: null };
  return removeMessages(view, place, batch, [context.actingUserId]);
}
