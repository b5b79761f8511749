/**
 * Drives a machine as a pure function of snapshot and event. XState decides what a machine means, and our runtime runs
 * it: by the table that is compiled from the machine (machine-tables.ts), or else by XState's own `transition`. A
 * differential test compares both for every machine.
 */
import { type AnyMachineSnapshot, type AnyStateMachine, transition } from "xstate";
import type { Outcome } from "./decide.ts";
import type { CommandEvent, Emitted } from "./machine-setup.ts";
import { tableOf } from "./machine-tables.ts";

export interface PlainSnapshot {
  readonly state: string;
  readonly context: unknown;
}

export interface Driven {
  readonly outcome: Outcome;
  readonly snapshot: PlainSnapshot;
}

/**
 * @returns the outcome and the next snapshot (the same object if nothing changed)
 * @throws whatever a decision throws, or an Error if the machine did not emit exactly one outcome; both are bugs (M6)
 */
export function drive(machine: AnyStateMachine, snapshot: PlainSnapshot, event: CommandEvent): Driven {
  return driveByTable(machine, snapshot, event) ?? driveByXState(machine, snapshot, event);
}

/** Returns null if the table does not cover the command. */
function driveByTable(machine: AnyStateMachine, snapshot: PlainSnapshot, event: CommandEvent): Driven | null {
  const row = tableOf(machine).row(snapshot.state, event.type);
  if (row === undefined) return null;
  const outcome = row.decision(snapshot.context as never, event.command as never, event.view);
  if (outcome.kind === "refused") return { outcome, snapshot };
  const { context: changed, to: state = snapshot.state } = outcome;
  if (state !== snapshot.state && !row.targets.includes(state)) {
    throw new Error(`${machine.id} ${snapshot.state}: ${event.type} does not lead to ${state}`);
  }
  if (changed === undefined && state === snapshot.state) return { outcome, snapshot };
  const context = changed === undefined ? snapshot.context : { ...(snapshot.context as object), ...changed };
  return { outcome, snapshot: { state, context } };
}

/** Also how the tests run every machine for comparison. */
export function driveByXState(machine: AnyStateMachine, snapshot: PlainSnapshot, event: CommandEvent): Driven {
  const before: AnyMachineSnapshot = machine.resolveState({ value: snapshot.state, context: snapshot.context });
  const [next, actions] = transition(machine, before, event);
  const outcomes = actions.flatMap(emitted);
  const [outcome] = outcomes;
  if (outcome === undefined || outcomes.length !== 1) {
    throw new Error(`${event.type}: ${outcomes.length} outcomes instead of one`);
  }
  const isSame = next.context === before.context && next.value === before.value;
  return { outcome, snapshot: isSame ? snapshot : { state: next.value as string, context: next.context } };
}

/** XState's type of actions leaves out `xstate.emit`; our machines emit only outcomes (`setupMachine`). */
function emitted({ type, params }: { readonly type: string; readonly params?: unknown }): Outcome[] {
  return type === "xstate.emit" ? [(params as { readonly event: Emitted }).event.outcome] : [];
}
