/**
 * The slices of a retention round (public API, message retention policy). Message ids are in order of time (M4), so what is too
 * old stands at the front of every index: of a channel's, and of all messages for the direct ones.
 */
import { limits } from "../../schemas/limits.ts";
import type { ChannelRecord, MessageRecord } from "../../schemas/records.ts";
import { channelRetentionDays, expiryOf, realmRetentionDays } from "../../src/domain/retention.ts";
import type { View } from "../../src/domain/view.ts";
import { type Command, command } from "../commands.ts";
import { done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { type RemovalPlace, removeMessages } from "../topic/message-removal.ts";
import type { RetentionContext, Round } from "./machine.ts";

const self = { actor: "retention" } as const;

const firstRound: Round = {
  areDirectsDone: false,
  channelFloorId: 0,
  hasLimit: false,
  nextAt: null,
  isRepeated: false,
};

/** A limit was set or changed, or the realm was opened: a round begins, or follows the one that runs. */
export function look(context: RetentionContext): Outcome<RetentionContext> {
  if (context.round === null) return begin();
  return done({}, [], { round: { ...context.round, isRepeated: true } });
}

export function beginWhenDue(context: RetentionContext, asked: Command<"retention.due">): Outcome<RetentionContext> {
  return context.dueAt === asked.params.dueAt ? begin() : done({}, []);
}

function begin(): Outcome<RetentionContext> {
  return done({}, [nextSlice()], { round: firstRound, dueAt: null });
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
  if (context.round === null) return done({}, []);
  if (!context.round.areDirectsDone) return sweepDirects(context, context.round, view);
  return sweepChannels(context.round, view);
}

/** A slice died (M6): the rest is tried again later. */
export function abandonSweep(
  context: RetentionContext,
  _asked: Command<"retention.abandon">,
  view: View,
): Outcome<RetentionContext> {
  return context.round === null ? done({}, []) : done({}, ...waiting(view.now + limits.retention_pause_ms_min));
}

function waiting(dueAt: number): [Effect[], Partial<RetentionContext>] {
  const timer = effects.schedule(dueAt, command(self, "retention.due", { dueAt }, null));
  return [[timer], { round: null, dueAt }];
}

/** Walks over all messages from where the last walk ended; those of channels are passed over. */
function sweepDirects(context: RetentionContext, round: Round, view: View): Outcome<RetentionContext> {
  const days = realmRetentionDays(view);
  if (days === null) return done({}, [nextSlice()], { round: { ...round, areDirectsDone: true } });
  const limit = limits.retention_messages_per_command;
  const walked = view.rows("messages", { start: context.directFloorId + 1, limit }).map(({ row }) => row);
  const youngAt = walked.findIndex((message) => expiryOf(message.sentAt, days) > view.now);
  const old = youngAt < 0 ? walked : walked.slice(0, youngAt);
  const young = youngAt < 0 ? undefined : walked[youngAt];
  const after: Round = {
    ...round,
    hasLimit: true,
    areDirectsDone: old.length < limit,
    nextAt: young === undefined ? round.nextAt : earlier(round.nextAt, expiryOf(young.sentAt, days)),
  };
  const removed = old.filter((message) => placeOf(view, message)?.channelId === null);
  return done({}, [...removals(view, removed), nextSlice()], {
    round: after,
    directFloorId: old.at(-1)?.id ?? context.directFloorId,
  });
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

function placeOf(view: View, message: MessageRecord): RemovalPlace | undefined {
  return view.row("conversations", message.conversationId);
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
  while (left > 0 && channelFloorId < lastId) {
    const channel = view.channels.get(channelFloorId + 1);
    const days = channel === undefined ? null : channelRetentionDays(view, channel);
    left--;
    if (channel !== undefined && days !== null) {
      const found = oldMessages(view, channel, days, left + 1);
      doomed.push(...found.messages);
      left -= found.messages.length;
      hasLimit = true;
      nextAt = earlier(nextAt, found.nextAt);
      if (found.isUnfinished) break;
    }
    channelFloorId++;
  }
  const after: Round = { ...round, channelFloorId, nextAt, hasLimit };
  const all = removals(view, doomed);
  if (channelFloorId < lastId) return done({}, [...all, nextSlice()], { round: after });
  return finish(after, all, view);
}

interface Found {
  readonly messages: readonly MessageRecord[];
  /** When the first that stays is due; null: none was met. */
  readonly nextAt: number | null;
  readonly isUnfinished: boolean;
}

function oldMessages(view: View, channel: ChannelRecord, days: number, limit: number): Found {
  const messages: MessageRecord[] = [];
  const keys = view.keys("channelMessages", { start: [channel.id], end: [channel.id + 1], limit });
  for (const [, id] of keys) {
    const message = view.row("messages", id);
    if (message === undefined) throw new Error(`channel ${channel.id} has no message ${id}`);
    const dueAt = expiryOf(message.sentAt, days);
    if (dueAt > view.now) return { messages, nextAt: dueAt, isUnfinished: false };
    messages.push(message);
  }
  return { messages, nextAt: null, isUnfinished: keys.length === limit };
}

/**
 * The next round comes when something is due, but not more than once an hour, however many messages there are, and once a day
 * in any case: messages may have been moved to where the limit is lower.
 */
function finish(round: Round, all: readonly Effect[], view: View): Outcome<RetentionContext> {
  if (round.isRepeated) return done({}, [...all, nextSlice()], { round: firstRound });
  if (!round.hasLimit) return done({}, all, { round: null, dueAt: null });
  const latest = view.now + limits.retention_pause_ms_max;
  const dueAt = Math.max(view.now + limits.retention_pause_ms_min, Math.min(round.nextAt ?? latest, latest));
  const [timer, context] = waiting(dueAt);
  return done({}, [...all, ...timer], context);
}
