/**
 * The slices of a retention round (public API, message retention policy).
 *
 * Finds messages that are too old. Message ids increase with time (M4), so old messages are at the front of every
 * index: of a channel's index for channel messages, of all messages for direct ones.
 */
import { channelRetentionDays, expiryOf, realmRetentionDays } from "../../domain/retention.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { limits } from "../../schemas/limits.ts";
import type { MessageRecord } from "../../schemas/messages.ts";
import { type Command, command, done, type Effect, effects, type Outcome } from "../protocol/decision.ts";
import { removeMessages, type SourceConversation } from "../rules/message-rows.ts";
import { withinRows } from "../rules/removal-size.ts";
import type { Counting, RetentionContext, Round, SweepingContext } from "./context.ts";

type CountedRound = Round & { readonly counting: Counting };

interface Counted {
  readonly round: CountedRound;
  readonly isDone: boolean;
}

/** Counts the messages that a round would remove, in the same slices as the round itself, and changes nothing. */
function countSlice(context: RetentionContext, round: CountedRound, view: View): Counted {
  return round.areDirectsDone ? countChannels(round, view) : countDirects(context, round, view);
}

function countDirects(context: RetentionContext, round: CountedRound, view: View): Counted {
  const days = realmRetentionDays(view);
  if (days === null) return { round: { ...round, areDirectsDone: true }, isDone: false };
  const { counting } = round;
  const found = oldDirects(view, days, Math.max(context.directFloorId, counting.directId));
  const messages = counting.messages + found.messages.length;
  const after = { ...counting, messages, directId: found.lastId };
  return { round: { ...round, areDirectsDone: !found.isUnfinished, counting: after }, isDone: false };
}

function countChannels(round: CountedRound, view: View): Counted {
  const lastId = view.counter("channel");
  let { channelFloorId } = round;
  let { messages, channelMessageId } = round.counting;
  let left: number = limits.retention_messages_per_command;
  while (left > 0 && channelFloorId < lastId) {
    const channel = view.channels.get(channelFloorId + 1);
    const days = channel === undefined ? null : channelRetentionDays(view, channel);
    left--;
    if (channel !== undefined && days !== null) {
      const found = oldInChannel(view, { channel, days, afterId: channelMessageId, limit: left + 1 });
      messages += found.messages.length;
      left -= found.messages.length;
      channelMessageId = found.lastId;
      if (found.isUnfinished) break;
    }
    channelMessageId = 0;
    channelFloorId++;
  }
  const counting = { ...round.counting, messages, channelMessageId };
  return { round: { ...round, channelFloorId, counting }, isDone: channelFloorId >= lastId };
}

interface OldMessages {
  readonly messages: readonly MessageRecord[];
  /** The last examined id that is too old; if there is none, the id before the start of the search. */
  readonly lastId: number;
  /** When the first remaining message is due; null: none found. */
  readonly nextAt: number | null;
  readonly isUnfinished: boolean;
}

/** Walks over all messages after `afterId` and skips channel messages. */
export function oldDirects(view: View, days: number, afterId: number): OldMessages {
  const limit = limits.retention_messages_per_command;
  const walked = view.rows("messages", { start: afterId + 1, limit }).map(({ row }) => row);
  const youngAt = walked.findIndex((message) => expiryOf(message.sentAt, days) > view.dueNow);
  const old = youngAt < 0 ? walked : walked.slice(0, youngAt);
  const young = youngAt < 0 ? undefined : walked[youngAt];
  return {
    messages: old.filter((message) => placeOf(view, message)?.channelId === null),
    lastId: old.at(-1)?.id ?? afterId,
    nextAt: young === undefined ? null : expiryOf(young.sentAt, days),
    isUnfinished: old.length === limit,
  };
}

function placeOf(view: View, message: MessageRecord): SourceConversation | undefined {
  return view.row("conversations", message.conversationId);
}

interface ChannelSearch {
  readonly channel: ChannelRecord;
  readonly days: number;
  readonly afterId: number;
  readonly limit: number;
}

export function oldInChannel(view: View, { channel, days, afterId, limit }: ChannelSearch): OldMessages {
  const messages: MessageRecord[] = [];
  const lastId = () => messages.at(-1)?.id ?? afterId;
  const keys = view.keys("channelMessages", { start: [channel.id, afterId + 1], end: [channel.id + 1], limit });
  for (const [, id] of keys) {
    const message = view.row("messages", id);
    if (message === undefined) throw new Error(`channel ${channel.id} has no message ${id}`);
    const dueAt = expiryOf(message.sentAt, days);
    if (dueAt > view.dueNow) return { messages, lastId: lastId(), nextAt: dueAt, isUnfinished: false };
    messages.push(message);
  }
  return { messages, lastId: lastId(), nextAt: null, isUnfinished: keys.length === limit };
}

const self = { actor: "retention" } as const;

const firstRound: Round = {
  areDirectsDone: false,
  channelFloorId: 0,
  hasLimit: false,
  nextAt: null,
  isRepeated: false,
  counting: null,
};

const nothingCounted: Counting = { messages: 0, directId: 0, channelMessageId: 0 };

/** A limit changed during a round: another round follows. */
export function repeatRound({ round }: SweepingContext): Outcome<SweepingContext> {
  return done({}, [], { round: { ...round, isRepeated: true } });
}

export function beginWhenDue(
  context: RetentionContext,
  request: Command<"retention.due">,
  view: View,
): Outcome<RetentionContext> {
  return context.dueAt === request.params.dueAt ? begin(context, request, view) : done({}, []);
}

/** An operator confirms that the clock is correct, or that the messages may be removed anyway. */
export function confirmPaused(
  context: RetentionContext,
  request: Command<"retention.confirm">,
  view: View,
): Outcome<RetentionContext> {
  return begin({ ...context, allowedLeaps: view.clockJumps }, request, view);
}

/** The same while no round is held: the next one is not counted. */
export function allowJumps(_params: unknown, view: View): Outcome<RetentionContext> {
  return done({}, [], { allowedLeaps: view.clockJumps });
}

/** Begins a round: a limit was set or changed, the realm was opened, or the time has come. */
export function begin({ allowedLeaps }: RetentionContext, _asked: Command, view: View): Outcome<RetentionContext> {
  // Before the first round, count from the realm's creation: a jump may be older than the first limit.
  const isAllowed = (allowedLeaps ?? 0) === view.clockJumps;
  const round: Round = { ...firstRound, counting: isAllowed ? null : nothingCounted };
  const allowed = isAllowed ? { allowedLeaps: view.clockJumps } : {};
  return done({}, [nextSlice()], { round, dueAt: null, held: null, ...allowed }, "sweeping");
}

function nextSlice(): Effect {
  return effects.send(command(self, "retention.sweep", {}, null));
}

/** One slice examines a bounded number of messages and channels, and removes at most those. */
export function sweep(
  context: SweepingContext,
  request: Command<"retention.sweep">,
  view: View,
): Outcome<RetentionContext> {
  const { round } = context;
  // The clock jumped during the round: the rest is counted first.
  if (round.counting === null && context.allowedLeaps !== view.clockJumps) return begin(context, request, view);
  if (round.counting !== null) return count(context, { ...round, counting: round.counting }, view);
  if (!round.areDirectsDone) return sweepDirects(context, round, view);
  return sweepChannels(round, view);
}

/** One slice of counting: it continues, lets the round remove messages, or waits for an operator. */
function count(context: RetentionContext, round: CountedRound, view: View): Outcome<RetentionContext> {
  const after = countSlice(context, round, view);
  const allMessages = view.count("messages");
  if (after.round.counting.messages * 100 > allMessages * limits.retention_jump_percent_max) {
    return done({}, [], { round: null, dueAt: null, held: { at: view.dueNow, allMessages } }, "held");
  }
  if (!after.isDone) return done({}, [nextSlice()], { round: after.round });
  // A limit changed meanwhile, so the count restarts.
  if (round.isRepeated) return done({}, [nextSlice()], { round: { ...firstRound, counting: nothingCounted } });
  return done({}, [nextSlice()], { round: firstRound, allowedLeaps: view.clockJumps });
}

/** A slice became a dead letter (M6): the round is retried later. */
export function abandonSweep(_params: unknown, view: View): Outcome<RetentionContext> {
  return waitUntil(view.dueNow + limits.retention_pause_ms_min, []);
}

function waitUntil(dueAt: number, all: readonly Effect[]): Outcome<RetentionContext> {
  const timer = effects.schedule(dueAt, command(self, "retention.due", { dueAt }, null));
  return done({}, [...all, timer], { round: null, dueAt }, "waiting");
}

/** Walks over all messages from the end of the last walk and skips channel messages. */
function sweepDirects(context: RetentionContext, round: Round, view: View): Outcome<RetentionContext> {
  const days = realmRetentionDays(view);
  if (days === null) return done({}, [nextSlice()], { round: { ...round, areDirectsDone: true } });
  const found = oldDirects(view, days, context.directFloorId);
  const { fitting } = withinRows(view, found.messages);
  const isCut = fitting.length < found.messages.length;
  const after: Round = {
    ...round,
    hasLimit: true,
    areDirectsDone: !found.isUnfinished && !isCut,
    nextAt: earlier(round.nextAt, found.nextAt),
  };
  const directFloorId = isCut ? (fitting.at(-1)?.id ?? context.directFloorId) : found.lastId;
  return done({}, [...removals(view, fitting), nextSlice()], { round: after, directFloorId });
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

function removals(view: View, messages: readonly MessageRecord[]): Effect[] {
  const byConversation = new Map<number, { place: SourceConversation; toDelete: MessageRecord[] }>();
  for (const message of messages) {
    const known = byConversation.get(message.conversationId);
    const place = known?.place ?? placeOf(view, message);
    if (place === undefined) throw new Error(`message ${message.id} has no conversation`);
    if (known === undefined) byConversation.set(place.id, { place, toDelete: [message] });
    else known.toDelete.push(message);
  }
  return [...byConversation.values()].flatMap(({ place, toDelete }) => removeMessages(view, place, toDelete, []));
}

/** Walks over the channels by id, and in each one up to the first message that is kept. */
function sweepChannels(round: Round, view: View): Outcome<RetentionContext> {
  const lastId = view.counter("channel");
  const toDelete: MessageRecord[] = [];
  let { channelFloorId, nextAt, hasLimit } = round;
  let left: number = limits.retention_messages_per_command;
  let rowsLeft: number = limits.removal_batch_rows;
  while (left > 0 && channelFloorId < lastId) {
    const channel = view.channels.get(channelFloorId + 1);
    const days = channel === undefined ? null : channelRetentionDays(view, channel);
    left--;
    if (channel !== undefined && days !== null) {
      const found = oldInChannel(view, { channel, days, afterId: 0, limit: left + 1 });
      const { fitting, rows } = withinRows(view, found.messages, rowsLeft);
      toDelete.push(...fitting);
      left -= found.messages.length;
      rowsLeft -= rows;
      hasLimit = true;
      nextAt = earlier(nextAt, found.nextAt);
      if (found.isUnfinished || fitting.length < found.messages.length) break;
    }
    channelFloorId++;
  }
  const after: Round = { ...round, channelFloorId, nextAt, hasLimit };
  const all = removals(view, toDelete);
  if (channelFloorId < lastId) return done({}, [...all, nextSlice()], { round: after });
  return finish(after, all, view);
}

/**
 * Schedules the next round for when a message becomes due, but at most once an hour, however many messages there are,
 * and at least once a day: messages may have moved to a channel with a lower limit.
 */
function finish(round: Round, all: readonly Effect[], view: View): Outcome<RetentionContext> {
  if (round.isRepeated) return done({}, [...all, nextSlice()], { round: firstRound });
  if (!round.hasLimit) return done({}, all, { round: null, dueAt: null }, "idle");
  const latest = view.dueNow + limits.retention_pause_ms_max;
  const dueAt = Math.max(view.dueNow + limits.retention_pause_ms_min, Math.min(round.nextAt ?? latest, latest));
  return waitUntil(dueAt, all);
}
