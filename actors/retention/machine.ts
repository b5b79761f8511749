/**
 * Message retention: what is older than a channel's or the organization's limit goes, by a durable timer (M8).
 *
 *   idle --look, there is a limit--> sweeping --sweep, slice by slice--> sweeping
 *                                    sweeping --sweep, all looked at--> waiting       a timer is set
 *                                    sweeping --sweep, no limit is left--> idle
 *                                    sweeping --abandon, a slice cannot be done--> waiting
 *                                    waiting --due, or look: a limit changed--> sweeping
 *                                    sweeping --sweep, a jump of the clock would remove too much--> held
 *                                    held --look: a limit changed or the realm was opened; confirm--> sweeping
 *
 * After a jump of the clock a round is counted before it removes anything: it may be the clock that is wrong, not the messages old.
 * The first round counts every jump since the founding.
 * A round that would remove more than `retention_leap_percent_max` of all messages waits for an operator.
 *
 * Between slices it tells itself `sweep`, which goes to the back of the realm's line: other commands are not delayed. Each
 * slice is one command, written whole or not at all, and what was told stands in the mailbox: a crash finds it at a slice's boundary.
 */
import { setup } from "xstate";
import { type CommandEvent, type Emitted, hosting } from "../decide.ts";
import { abandonSweep, beginWhenDue, confirm, look, sweep } from "./sweeps.ts";

/** One pass over everything that has a limit. */
export interface Round {
  readonly areDirectsDone: boolean;
  /** Channels up to this id are done. */
  readonly channelFloorId: number;
  /** Whether anything with a limit was met. */
  readonly hasLimit: boolean;
  /** When the first of the messages that stayed is due; null: none stayed. */
  readonly nextAt: number | null;
  /** A limit changed meanwhile: another round follows. */
  readonly isRepeated: boolean;
  /** null: it removes. */
  readonly counting: Counting | null;
}

/** What the round would remove, counted as far as that takes to know whether it may. */
export interface Counting {
  readonly messages: number;
  /** Where it goes on: the last direct message, and the last one of the channel that follows `channelFloorId`. */
  readonly directId: number;
  readonly channelMessageId: number;
}

/** A round that waits for an operator. */
export interface Held {
  /** The realm's time by which messages are too old. */
  readonly at: number;
  readonly allMessages: number;
}

export interface RetentionContext {
  /** null: none is on its way. */
  readonly round: Round | null;
  /** The timer that counts: one that was set for another time is passed over. null: none. */
  readonly dueAt: number | null;
  /** There are no direct messages up to this id: ids are in order of time, and nothing is ever put below. */
  readonly directFloorId: number;
  /**
   * `View.leaps` when a round was last allowed to remove; null: none was, which is the same as 0. While it is the same, time has
   * passed as it should.
   */
  readonly allowedLeaps: number | null;
  readonly held: Held | null;
}

export const retentionMachineVersion = 2;

export const initialRetention: RetentionContext = {
  round: null,
  dueAt: null,
  directFloorId: 0,
  allowedLeaps: null,
  held: null,
};

/** Version 1 knew of no jumps. */
export function withoutLeaps(context: unknown): RetentionContext {
  const before = context as Pick<RetentionContext, "round" | "dueAt" | "directFloorId">;
  const round = before.round === null ? null : { ...before.round, counting: null };
  return { ...before, round, allowedLeaps: 0, held: null };
}

const isSweeping = ({ context }: { context: RetentionContext }) => context.round !== null;
const isWaiting = ({ context }: { context: RetentionContext }) => context.round === null && context.dueAt !== null;
const isHeld = ({ context }: { context: RetentionContext }) => context.held !== null;
const isIdle = ({ context }: { context: RetentionContext }) => context.round === null && context.dueAt === null;

const { decide, notUnderstood } = hosting<RetentionContext>();

export const retentionMachine = setup({
  types: { context: {} as RetentionContext, events: {} as CommandEvent, emitted: {} as Emitted },
}).createMachine({
  id: "retention",
  context: initialRetention,
  initial: "idle",
  on: {
    "retention.look": { actions: decide(look) },
    "retention.due": { actions: decide(beginWhenDue) },
    "retention.sweep": { actions: decide(sweep) },
    "retention.abandon": { actions: decide(abandonSweep) },
    "retention.confirm": { actions: decide(confirm) },
    "*": { actions: notUnderstood },
  },
  states: {
    idle: { always: { guard: isSweeping, target: "sweeping" } },
    sweeping: {
      always: [
        { guard: isHeld, target: "held" },
        { guard: isIdle, target: "idle" },
        { guard: isWaiting, target: "waiting" },
      ],
    },
    held: { always: { guard: isSweeping, target: "sweeping" } },
    waiting: {
      always: [
        { guard: isIdle, target: "idle" },
        { guard: isSweeping, target: "sweeping" },
      ],
    },
  },
});
