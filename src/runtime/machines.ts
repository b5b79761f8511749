/**
 * Drives a machine as a pure function of snapshot and event: `machine.transition` with one reused inert scope collects
 * what it emits (pitfalls 3.2). The scope's shape is internal to XState: its version is pinned, and a differential test
 * compares every machine with XState's own `transition()`.
 */
import { type AnyMachineSnapshot, type AnyStateMachine, createActor, createMachine } from "xstate";
import type { CommandEvent, Emitted, Outcome } from "../../actors/decide.ts";
import type { PlainSnapshot } from "../../actors/kinds.ts";

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
  readonly snapshot: AnyMachineSnapshot;
}

export function restore(machine: AnyStateMachine, plain: PlainSnapshot): AnyMachineSnapshot {
  return machine.resolveState({ value: plain.state, context: plain.context });
}

export function plain(snapshot: AnyMachineSnapshot): PlainSnapshot {
  return { state: snapshot.value as string, context: snapshot.context };
}

/**
 * @returns the outcome and the next snapshot
 * @throws whatever a decision throws, or an Error when the machine did not emit exactly one outcome: bugs (M6)
 */
export function drive(machine: AnyStateMachine, snapshot: AnyMachineSnapshot, event: CommandEvent): Driven {
  collected = [];
  const next = machine.transition(snapshot, event, scope as never);
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
  return { outcome, snapshot: next };
}
