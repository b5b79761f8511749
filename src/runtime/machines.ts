/**
 * Drives a machine as a pure function of snapshot and event: by its table (machine-tables.ts), and where that does not know, by
 * `machine.transition` with one reused inert scope that collects what it emits (pitfalls 3.2). The scope's shape is internal to
 * XState: its version is pinned. A differential test compares every machine with XState's own `transition()`.
 */
import { type AnyMachineSnapshot, type AnyStateMachine, createActor, createMachine } from "xstate";
import type { CommandEvent, Emitted, Outcome } from "../../actors/decide.ts";
import type { PlainSnapshot } from "../../actors/kinds.ts";
import { tableOf } from "./machine-tables.ts";

// Any actor serves: our machines never look at `self` or `system`.
const host = createActor(createMachine({}));

interface CollectedAction {
  readonly type: string;
  readonly params?: { readonly event?: unknown };
}

let collected: CollectedAction[] = [];

const scope = {
  self: host,
  system: host.system,
  id: "",
  sessionId: "",
  logger: () => undefined,
  defer: () => undefined,
  stopChild: () => undefined,
  emit: () => undefined,
  actionExecutor: (action: CollectedAction) => {
    collected.push(action);
  },
};

export interface Driven {
  readonly outcome: Outcome;
  readonly snapshot: PlainSnapshot;
}

export function restore(machine: AnyStateMachine, plain: PlainSnapshot): AnyMachineSnapshot {
  return machine.resolveState({ value: plain.state, context: plain.context });
}

export function plain(snapshot: AnyMachineSnapshot): PlainSnapshot {
  return { state: snapshot.value as string, context: snapshot.context };
}

/**
 * @returns the outcome and the next snapshot: the same object when nothing changed
 * @throws whatever a decision throws, or an Error when the machine did not emit exactly one outcome: bugs (M6)
 */
export function drive(machine: AnyStateMachine, snapshot: PlainSnapshot, event: CommandEvent): Driven {
  return driveByTable(machine, snapshot, event) ?? driveByXState(machine, snapshot, event);
}

/** null: the table does not know. XState decides anew then, which gives the same: decisions are pure (M4). */
function driveByTable(machine: AnyStateMachine, snapshot: PlainSnapshot, event: CommandEvent): Driven | null {
  const table = tableOf(machine);
  const outcome = table.decisionFor(snapshot.state, event.type)?.(snapshot.context as never, event);
  if (outcome === undefined) return null;
  const changed = outcome.kind === "done" ? outcome.context : undefined;
  const context = changed === undefined ? snapshot.context : { ...(snapshot.context as object), ...changed };
  const state = table.settled(snapshot.state, context, event);
  if (state === undefined) return null;
  const isSame = context === snapshot.context && state === snapshot.state;
  return { outcome, snapshot: isSame ? snapshot : { state, context } };
}

function driveByXState(machine: AnyStateMachine, snapshot: PlainSnapshot, event: CommandEvent): Driven {
  const before = restore(machine, snapshot);
  collected = [];
  const next = machine.transition(before, event, scope as never);
  const outcomes: Outcome[] = [];
  for (const action of collected) {
    if (action.type !== "xstate.emit") continue;
    const emitted = action.params?.event as Emitted;
    if (emitted.type === "outcome") outcomes.push(emitted.outcome);
  }
  const [outcome] = outcomes;
  if (outcome === undefined || outcomes.length !== 1) {
    throw new Error(`${event.type}: ${outcomes.length} outcomes instead of one`);
  }
  const isSame = next.context === before.context && next.value === before.value;
  return { outcome, snapshot: isSame ? snapshot : plain(next) };
}
