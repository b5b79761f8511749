/** One step of a machine as our runtime takes it, and as XState itself does, to be compared. */
import { type AnyMachineSnapshot, type AnyStateMachine, transition } from "xstate";
import type { CommandEvent, Emitted, Outcome } from "../../actors/decide.ts";
import type { PlainSnapshot } from "../../actors/kinds.ts";
import { drive, plain, restore } from "../../src/runtime/machines.ts";

export interface Shown {
  readonly outcome: Outcome;
  readonly snapshot: PlainSnapshot;
}

/** What our runtime does; `null`: it threw. */
export function ours(machine: AnyStateMachine, snapshot: PlainSnapshot, event: CommandEvent): Shown | null {
  try {
    const { outcome, snapshot: next } = drive(machine, snapshot, event);
    return { outcome, snapshot: next };
  } catch {
    return null;
  }
}

/** What XState says. */
export function theirs(machine: AnyStateMachine, snapshot: PlainSnapshot, event: CommandEvent): Shown | null {
  try {
    const [next, actions] = transition(machine, restore(machine, snapshot), event) as [
      AnyMachineSnapshot,
      { type: string; params?: unknown }[],
    ];
    const emitted = actions.flatMap((action) =>
      action.type === "xstate.emit" ? [(action.params as { event: Emitted }).event.outcome] : [],
    );
    const [outcome] = emitted;
    return outcome === undefined || emitted.length !== 1 ? null : { outcome, snapshot: plain(next) };
  } catch {
    return null;
  }
}
