/**
 * Records with a life of their own but without a mailbox, such as user groups: the actor that keeps their table finds
 * the record and checks who may change it, then the record's machine decides. The state follows from the row, so
 * nothing else is stored.
 *
 * A table of a machine's decisions, compiled from the machine once, so that a command costs a lookup instead of
 * XState's interpreter (`drive`). It covers flat states whose commands have one decision each, which says
 * to which of the command's targets it leads: all of our commands. For everything else (other guards, eventless
 * transitions, entry and exit actions, nested and final states, wildcards) it returns undefined, and XState decides.
 *
 * Drives a machine as a pure function of snapshot and event. XState decides what a machine means, and our runtime runs
 * it: by the table that is compiled from the machine, or else by XState's own `transition`. A
 * differential test compares both for every machine.
 */
import { type AnyMachineSnapshot, type AnyStateMachine, type AnyStateNode, transition } from "xstate";
import type { View } from "../../domain/view.ts";
import type { Refusal } from "../../schemas/errors.ts";
import type { AnyDecision, Command, CommandType, Outcome } from "./decision.ts";
import {
  type CommandEvent,
  type Emitted,
  leadsToGuard,
  nothing,
  type OutcomeAction,
  outcomeAction,
} from "./machine-setup.ts";

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

type Transition = NonNullable<AnyStateNode["always"]>[number];

/** The reaction of a state to a command. */
interface Row {
  readonly decision: AnyDecision;
  /** The states that the decision may lead to. */
  readonly targets: readonly string[];
  /** The refusal of a state that rejects the command, whatever its context. */
  readonly refusal: (() => Refusal) | null;
}

const tables = new WeakMap<AnyStateMachine, MachineTable>();

export function tableOf(machine: AnyStateMachine): MachineTable {
  const known = tables.get(machine);
  if (known !== undefined) return known;
  const table = new MachineTable(machine);
  tables.set(machine, table);
  return table;
}

class MachineTable {
  readonly #states = new Map<string, ReadonlyMap<string, Row>>();

  constructor({ root }: AnyStateMachine) {
    if (root.type !== "compound" || hasLife(root)) return;
    for (const node of Object.values(root.states)) {
      if (node.type === "atomic" && !hasLife(node)) this.#states.set(node.key, rowsOf(node, root));
    }
  }

  /** Returns undefined if the table does not cover the command. */
  row(state: string, type: string): Row | undefined {
    return this.#states.get(state)?.get(type);
  }
}

/** Whether entering, staying in or leaving the state has any effect. */
function hasLife({ entry, exit, invoke, after, always }: AnyStateNode): boolean {
  return entry.length + exit.length + invoke.length + after.length + (always?.length ?? 0) > 0;
}

/** The state's own commands override those of the root. */
function rowsOf(node: AnyStateNode, root: AnyStateNode): ReadonlyMap<string, Row> {
  const rows = new Map<string, Row>();
  const hasWildcard = [...node.transitions.keys()].some((descriptor) => descriptor.endsWith("*"));
  for (const level of hasWildcard ? [node] : [root, node]) {
    for (const [type, transitions] of level.transitions) {
      const row = rowOf(transitions, root);
      if (row === null) rows.delete(type);
      else rows.set(type, row);
    }
  }
  return rows;
}

/** The last transition stays; those before it lead elsewhere, if the same decision says so. */
function rowOf(transitions: readonly Transition[], root: AnyStateNode): Row | null {
  const stays = transitions.at(-1);
  const action = stays === undefined || stays.guard !== undefined ? null : onlyAction(stays);
  if (stays === undefined || stays.target !== undefined || action === null) return null;
  const decision = decisionOf(action);
  const targets: string[] = [];
  for (const leaves of transitions.slice(0, -1)) {
    const params = leadsToGuard(leaves.guard)?.params;
    const target = leaves.target?.length === 1 ? leaves.target[0] : undefined;
    const own = onlyAction(leaves);
    const isSame = own !== null && params?.decision === decision && decisionOf(own) === decision;
    if (!isSame || target?.parent !== root || target.key !== params.to) return null;
    targets.push(params.to);
  }
  return { decision, targets, refusal: action.type === "reject" ? action.params.refusal : null };
}

function decisionOf(action: OutcomeAction): AnyDecision {
  switch (action.type) {
    case "decide":
      return action.params.decision;
    case "reject": {
      // Without the arguments of a decision: a refusal may have optional ones.
      const { refusal } = action.params;
      return () => refusal();
    }
    case "ignore":
      return nothing;
  }
}

function onlyAction({ actions, reenter }: Transition): OutcomeAction | null {
  return !reenter && actions.length === 1 ? outcomeAction(actions[0]) : null;
}

/** The context of a record's decisions. A decision that changes the row returns the new one in its context. */
export interface RecordContext<R> {
  readonly row: R;
}

export interface RecordMachine<C extends RecordContext<unknown>> {
  readonly machine: AnyStateMachine;
  stateOf(row: C["row"]): string;
}

/** Lets the record's machine decide. The row that the outcome writes is all that remains of the record's context. */
export function decideRecord<C extends RecordContext<unknown>>(
  { machine, stateOf }: RecordMachine<C>,
  context: C,
  command: Command,
  view: View,
): Outcome {
  const before = { state: stateOf(context.row), context };
  const { outcome } = drive(machine, before, { type: command.type, command, view });
  if (outcome.kind === "refused") return outcome;
  const { context: _row, to: _state, ...own } = outcome;
  return own;
}

/**
 * The refusal if the record's state rejects a command about another record that names it; null if the state permits it.
 * @throws Error if the state lists the command as neither
 */
export function refusedByRecord<C extends RecordContext<unknown>>(
  { machine, stateOf }: RecordMachine<C>,
  row: C["row"],
  type: CommandType,
): Refusal | null {
  const state = stateOf(row);
  const listed = tableOf(machine).row(state, type);
  if (listed === undefined) throw new Error(`${machine.id} ${state} does not list ${type}`);
  return listed.refusal?.() ?? null;
}
