/**
 * A table of a machine's decisions, compiled from the machine once, so that a command costs a lookup instead of XState's
 * interpreter (`drive` in drive.ts). It covers flat states whose commands have one decision each, which says to which of
 * the command's targets it leads: all of our commands. For everything else (other guards, eventless transitions, entry
 * and exit actions, nested and final states, wildcards) it returns undefined, and XState decides.
 */
import type { AnyStateMachine, AnyStateNode } from "xstate";
import type { Refusal } from "../../schemas/errors.ts";
import type { AnyDecision } from "./decide.ts";
import { leadsToGuard, nothing, type OutcomeAction, outcomeAction } from "./machine-setup.ts";

type Transition = NonNullable<AnyStateNode["always"]>[number];

/** What a state does with a command. */
export interface Row {
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

export class MachineTable {
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
