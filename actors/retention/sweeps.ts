/**
 * The slices of a retention round (public API, message retention policy). Message ids are in order of time (M4), so what is too
 * old stands at the front of every index: of a channel's, and of all messages for the direct ones.
 */
import { limits } from "../../schemas/limits.ts";
import type { MessageRecord } from "../../schemas/records.ts";
import { channelRetentionDays, realmRetentionDays } from "../../src/domain/retention.ts";
import type { View } from "../../src/domain/view.ts";
import { type Command, command } from "../commands.ts";
import { done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { type RemovalPlace, removeMessages } from "../topic/message-removal.ts";
import { withinRows } from "../topic/removal-size.ts";
import { type CountedRound, countSlice } from "./counting.ts";
import type { Counting, RetentionContext, Round } from "./machine.ts";
import { oldDirects, oldInChannel, placeOf } from "./old-messages.ts";

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

/** A limit was set or changed, or the realm was opened: a round begins, or follows the one that runs. */
export function look(
  context: RetentionContext,
  _asked: Command<"retention.look">,
  view: View,
): Outcome<RetentionContext> {
  if (context.round === null) return begin(context, view);
  return done({}, [], { round: { ...context.round, isRepeated: true } });
}

export function beginWhenDue(
  context: RetentionContext,
  asked: Command<"retention.due">,
  view: View,
): Outcome<RetentionContext> {
  return context.dueAt === asked.params.dueAt ? begin(context, view) : done({}, []);
}

/** An operator says that the clock is right, or that messages may go all the same. */
export function confirm(
  context: RetentionContext,
  _asked: Command<"retention.confirm">,
  view: View,
): Outcome<RetentionContext> {
  const allowed = { ...context, allowedLeaps: view.leaps };
  return context.held === null ? done({}, [], { allowedLeaps: view.leaps }) : begin(allowed, view);
}

function begin({ allowedLeaps }: RetentionContext, view: View): Outcome<RetentionContext> {
  // Before the first round it counts from the founding: a jump may be older than the first limit.
  const isAllowed = (allowedLeaps ?? 0) === view.leaps;
  const round: Round = { ...firstRound, counting: isAllowed ? null : nothingCounted };
  const allowed = isAllowed ? { allowedLeaps: view.leaps } : {};
  return done({}, [nextSlice()], { round, dueAt: null, held: null, ...allowed });
}

function nextSlice(): Effect {
  return effects.tell(command(self, "retention.sweep", {}, null));
}

/** One slice: it looks at a bounded number of messages and channels, and removes no more than those. */
export function sweep(
  context: RetentionContext,
  _asked: Command<"retention.sweep">,
  view: View,
): Outcome<RetentionContext> {
  const { round } = context;
  if (round === null) return done({}, []);
  // The clock jumped amid the round: what is left of it is counted first.
  if (round.counting === null && context.allowedLeaps !== view.leaps) return begin(context, view);
  if (round.counting !== null) return count(context, { ...round, counting: round.counting }, view);
  if (!round.areDirectsDone) return sweepDirects(context, round, view);
  return sweepChannels(round, view);
}

/** A slice of a round that is counted first: it goes on, or the round may remove, or it waits for an operator. */
function count(context: RetentionContext, round: CountedRound, view: View): Outcome<RetentionContext> {
  const after = countSlice(context, round, view);
  const allMessages = view.count("messages");
  if (after.round.counting.messages * 100 > allMessages * limits.retention_leap_percent_max) {
    return done({}, [], { round: null, dueAt: null, held: { at: view.dueNow, allMessages } });
  }
  if (!after.isDone) return done({}, [nextSlice()], { round: after.round });
  // A limit that changed meanwhile was not counted from the beginning.
  if (round.isRepeated) return done({}, [nextSlice()], { round: { ...firstRound, counting: nothingCounted } });
  return done({}, [nextSlice()], { round: firstRound, allowedLeaps: view.leaps });
}

/** A slice died (M6): the rest is tried again later. */
export function abandonSweep(
  context: RetentionContext,
  _asked: Command<"retention.abandon">,
  view: View,
): Outcome<RetentionContext> {
  return context.round === null ? done({}, []) : done({}, ...waiting(view.dueNow + limits.retention_pause_ms_min));
}

function waiting(dueAt: number): [Effect[], Partial<RetentionContext>] {
  const timer = effects.schedule(dueAt, command(self, "retention.due", { dueAt }, null));
  return [[timer], { round: null, dueAt }];
}

/** Walks over all messages from where the last walk ended; those of channels are passed over. */
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
  const byConversation = new Map<number, { place: RemovalPlace; doomed: MessageRecord[] }>();
  for (const message of messages) {
    const known = byConversation.get(message.conversationId);
    const place = known?.place ?? placeOf(view, message);
    if (place === undefined) throw new Error(`message ${message.id} has no conversation`);
    if (known === undefined) byConversation.set(place.id, { place, doomed: [message] });
    else known.doomed.push(message);
  }
  return [...byConversation.values()].flatMap(({ place, doomed }) => removeMessages(view, place, doomed, []));
}

/** The channels by id, each until its first message that stays. */
function sweepChannels(round: Round, view: View): Outcome<RetentionContext> {
  const lastId = view.counter("channel");
  const doomed: MessageRecord[] = [];
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
      doomed.push(...fitting);
      left -= found.messages.length;
      rowsLeft -= rows;
      hasLimit = true;
      nextAt = earlier(nextAt, found.nextAt);
      if (found.isUnfinished || fitting.length < found.messages.length) break;
    }
    channelFloorId++;
  }
  const after: Round = { ...round, channelFloorId, nextAt, hasLimit };
  const all = removals(view, doomed);
  if (channelFloorId < lastId) return done({}, [...all, nextSlice()], { round: after });
  return finish(after, all, view);
}

/**
 * The next round comes when something is due, but not more than once an hour, however many messages there are, and once a day
 * in any case: messages may have been moved to where the limit is lower.
 */
function finish(round: Round, all: readonly Effect[], view: View): Outcome<RetentionContext> {
  if (round.isRepeated) return done({}, [...all, nextSlice()], { round: firstRound });
  if (!round.hasLimit) return done({}, all, { round: null, dueAt: null });
  const latest = view.dueNow + limits.retention_pause_ms_max;
  const dueAt = Math.max(view.dueNow + limits.retention_pause_ms_min, Math.min(round.nextAt ?? latest, latest));
  const [timer, context] = waiting(dueAt);
  return done({}, [...all, ...timer], context);
}
