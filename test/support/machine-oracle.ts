/** One step of a machine, taken by our driver and by XState, for comparison. */
import type { AnyStateMachine } from "xstate";
import type { CommandEvent } from "../../actors/protocol/machine-setup.ts";
import { type Driven, drive, driveByXState, type PlainSnapshot } from "../../actors/protocol/record-machines.ts";

/** The result of our driver; `null`: it threw. */
export function ours(machine: AnyStateMachine, snapshot: PlainSnapshot, event: CommandEvent): Driven | null {
  return attempt(() => drive(machine, snapshot, event));
}

/** The result of XState; `null`: it threw. */
export function theirs(machine: AnyStateMachine, snapshot: PlainSnapshot, event: CommandEvent): Driven | null {
  return attempt(() => driveByXState(machine, snapshot, event));
}

function attempt(step: () => Driven): Driven | null {
  try {
    return step();
  } catch {
    return null;
  }
}
