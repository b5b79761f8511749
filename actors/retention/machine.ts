/**
 * Message retention: what is older than a channel's or the organization's limit goes, by a durable timer (M8).
 *
 *   idle --look, there is a limit--> sweeping --sweep, slice by slice--> sweeping
 *                                    sweeping --sweep, all looked at--> waiting       a timer is set
 *                                    sweeping --sweep, no limit is left--> idle
 *                                    sweeping --abandon, a slice cannot be done--> waiting
 *                                    waiting --due, or look: a limit changed--> sweeping
 *
 * Between slices it tells itself `sweep`, which goes to the back of the realm's line: other commands are not delayed. Each
 * slice is one command, written whole or not at all, and what was told stands in the mailbox: a crash finds it at a slice's boundary.
 */
import { setup } from "xstate";
import { type CommandEvent, type Emitted, hosting } from "../decide.ts";
import { abandonSweep, beginWhenDue, look, sweep } from "./sweeps.ts";

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
}

export interface RetentionContext {
  /** null: none is on its way. */
  readonly round: Round | null;
  /** The timer that counts: one that was set for another time is passed over. null: none. */
  readonly dueAt: number | null;
  /** There are no direct messages up to this id: ids are in order of time, and nothing is ever put below. */
  readonly directFloorId: number;
}

export const retentionMachineVersion = 1;

export const initialRetention: RetentionContext = { round: null, dueAt: null, directFloorId: 0 };

const isSweeping = ({ context }: { context: RetentionContext }) => context.round !== null;
const isWaiting = ({ context }: { context: RetentionContext }) => context.round === null && context.dueAt !== null;
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
    "*": { actions: notUnderstood },
  },
  states: {
    idle: { always: { guard: isSweeping, target: "sweeping" } },
    sweeping: {
      always: [
        { guard: isIdle, target: "idle" },
        { guard: isWaiting, target: "waiting" },
      ],
    },
    waiting: {
      always: [
        { guard: isIdle, target: "idle" },
        { guard: isSweeping, target: "sweeping" },
      ],
    },
  },
});
