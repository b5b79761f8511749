/** One request and one batch of a topic deletion (spec 4.13; D29, D30; behaviour 7). */
import { refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import type { ChannelRecord } from "../../schemas/records.ts";
import { hasContentAccess, isAdministrator } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import { type Address, type Command, command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { endUserTopics } from "../realm/user-topics.ts";
import { type Doomed, removeMessages } from "../topic/message-removal.ts";
import { withinRows } from "../topic/removal-size.ts";
import type { TopicDeletionContext, Waiter } from "./machine.ts";

type Target = Extract<Address, { actor: "topic-deletion" }>;

export function requestDeletion(
  context: TopicDeletionContext,
  asked: Command<"topic-deletion.request">,
  view: View,
): Outcome<TopicDeletionContext> {
  const caller = callerOf(asked, view);
  if (caller === null || !isAdministrator(caller)) return refuse.administratorRequired();
  const target = asked.to as Target;
  const channel = view.channels.get(target.channelId);
  if (channel === undefined || channel.isArchived || !hasContentAccess(view, caller, channel)) {
    return refuse.invalidChannelId();
  }
  const named = view.row("topicNames", [channel.id, fold(target.topic)]);
  if (named === undefined) return done({ complete: true }, [], { hasMore: false, waiters: [] });
  const boot = view.counter("boot");
  const living = context.boot === boot ? context.waiters : [];
  if (living.length >= limits.topic_deletion_waiters_max) return refuse.overloaded();
  const waiters: Waiter[] =
    asked.ticket === null ? [...living] : [...living, { ticket: asked.ticket, deadline: asked.params.deadline }];
  const highWaterId = view.counter("message");
  const isRepeated = context.hasMore && context.conversationId === named.id;
  const newestId = isRepeated ? context.newestId : (newestMessages(view, named.id, highWaterId, 1)[0]?.id ?? 0);
  // Told even while a deletion runs: should its chain have died (M6), this request revives it; an extra turn is harmless.
  return done(null, [effects.tell(command(target, "topic-deletion.continue", {}, null))], {
    conversationId: named.id,
    highWaterId,
    newestId,
    actingUserId: caller.id,
    waiters,
    boot,
    hasMore: true,
  });
}

/** Deletes the newest batch. The deadline is looked at after it, so that every request makes progress. */
export function continueDeletion(
  context: TopicDeletionContext,
  asked: Command<"topic-deletion.continue">,
  view: View,
): Outcome<TopicDeletionContext> {
  const target = asked.to as Target;
  const channel = view.channels.get(target.channelId);
  if (context.conversationId === null || channel === undefined) return done({}, [], { hasMore: false, waiters: [] });
  // After a restart nobody waits: park at this batch boundary, a repeated request goes on.
  if (context.boot !== view.counter("boot")) return done({}, [], { waiters: [] });
  if (hasAnotherName(view, target, context.conversationId)) return complete(context, []);

  const size = view.isQuiet ? limits.topic_deletion_batch_messages : limits.topic_deletion_batch_messages_busy;
  // One more than a batch, to know if any is left.
  const newest = newestMessages(view, context.conversationId, context.highWaterId, size + 1);
  // A move that has been accepted is not overtaken: what it takes out survives.
  const isBeingMoved = (view.row("conversations", context.conversationId)?.movingId ?? null) !== null;
  const batch = isBeingMoved ? [] : withinRows(view, newest.slice(0, size)).fitting;
  const hasMore = newest.length > batch.length;
  const all = batch.length === 0 ? [] : batchEffects(view, context, channel, target.topic, batch);
  if (!hasMore) return complete(context, [...all, ...policyEnds(view, context, target, batch)]);
  const patient = context.waiters.filter((waiter) => waiter.deadline > view.now);
  const expired = context.waiters.filter((waiter) => waiter.deadline <= view.now);
  const onward = patient.length > 0 ? [effects.tell(command(target, "topic-deletion.continue", {}, null))] : [];
  const replies = expired.map((waiter) => effects.reply(waiter.ticket, { complete: false }));
  return done({}, [...all, ...replies, ...onward], { waiters: patient });
}

/** Renamed meanwhile: what moves out of a topic that is being deleted survives, and nothing is left of the name. */
function hasAnotherName(view: View, { channelId, topic }: Target, conversationId: number): boolean {
  const named = view.row("conversations", conversationId);
  return named !== undefined && (named.channelId !== channelId || fold(named.topic) !== fold(topic));
}

function complete(context: TopicDeletionContext, all: readonly Effect[]): Outcome<TopicDeletionContext> {
  const replies = context.waiters.map((waiter) => effects.reply(waiter.ticket, { complete: true }));
  return done({}, [...all, ...replies], { waiters: [], hasMore: false, conversationId: null });
}

/** With the last message the topic is gone, and with it what people thought of it (behaviour 7); a later post keeps both (D29). */
function policyEnds(view: View, context: TopicDeletionContext, place: Target, batch: readonly Doomed[]): Effect[] {
  const oldest = batch.at(-1);
  const [remaining] = newestMessages(view, context.conversationId ?? 0, Number.MAX_SAFE_INTEGER, 1);
  if (oldest === undefined || remaining?.id !== batch[0]?.id) return [];
  const { channelId, topic } = place;
  const messageIds = [oldest.id, context.newestId];
  return endUserTopics(view, { place: { channelId, topic }, messageIds, at: view.now });
}

/** A batch died (M6): whoever waits learns that messages are left, and may repeat the request. */
export function abandonDeletion(
  context: TopicDeletionContext,
  _asked: Command<"topic-deletion.abandon">,
  view: View,
): Outcome<TopicDeletionContext> {
  const living = context.boot === view.counter("boot") ? context.waiters : [];
  const replies = living.map((waiter) => effects.reply(waiter.ticket, { complete: false }));
  return done({}, replies, { waiters: [] });
}

/** The newest messages up to the high-water id, newest first. */
function newestMessages(view: View, conversationId: number, highWaterId: number, limit: number): Doomed[] {
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
  batch: readonly Doomed[],
): Effect[] {
  const id = context.conversationId ?? 0;
  const spelt = view.row("conversations", id)?.topic ?? topic;
  const place = { id, channelId: channel.id, topic: spelt, userIds: null };
  return removeMessages(view, place, batch, [context.actingUserId]);
}
