/**
 * What a machine does at a command, read from the machine itself once, so that a command costs a look-up instead of XState's
 * steps (drive, machines.ts). A table knows just what nearly all our commands are: one decision, without a guard, in a flat state,
 * and transitions without an event that follow from the context. Of everything else (guards on events, targets, entry and exit
 * actions, nested and final states, wildcards) it says that it does not know, and XState is asked.
 */
import type { AnyStateMachine, AnyStateNode } from "xstate";
import { type CommandEvent, type Hosted, hostedBy } from "../../actors/decide.ts";

type TransitionOf = NonNullable<AnyStateNode["always"]>[number];

interface Following {
  readonly guard: (seen: { readonly context: unknown; readonly event: CommandEvent }) => boolean;
  readonly to: string;
}

interface StateRow {
  readonly decisions: ReadonlyMap<string, Hosted>;
  /** In their order: the first whose guard holds is taken. */
  readonly following: readonly Following[];
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
  readonly #rows = new Map<string, StateRow>();

  constructor({ root }: AnyStateMachine) {
    if (root.type !== "compound" || root.always !== undefined || hasLife(root)) return;
    for (const node of Object.values(root.states)) {
      const following = followingOf(node, root);
      if (node.type !== "atomic" || hasLife(node) || following === null) continue;
      this.#rows.set(node.key, { decisions: decisionsOf(node, root), following });
    }
  }

  /** undefined: the table does not know. */
  decisionFor(state: string, type: string): Hosted | undefined {
    return this.#rows.get(state)?.decisions.get(type);
  }

  /** Where the machine comes to rest; undefined: the table does not know. */
  settled(state: string, context: unknown, event: CommandEvent): string | undefined {
    let at = state;
    // No state twice: what goes in circles is XState's to report.
    for (let steps = 0; steps <= this.#rows.size; steps++) {
      const row = this.#rows.get(at);
      if (row === undefined) return undefined;
      const next = row.following.find(({ guard }) => guard({ context, event }));
      if (next === undefined) return at;
      at = next.to;
    }
    return undefined;
  }
}

/** Whether entering it, being there or leaving it does anything. */
function hasLife({ entry, exit, invoke, after }: AnyStateNode): boolean {
  return entry.length + exit.length + invoke.length + after.length > 0;
}

/** null: one of them is more than a guard and a state beside this one. */
function followingOf(node: AnyStateNode, root: AnyStateNode): Following[] | null {
  const found: Following[] = [];
  for (const { guard, target, actions, reenter } of node.always ?? []) {
    const to = target?.length === 1 ? target[0] : undefined;
    // XState's own guards (`not`, `and`, `stateIn`) are functions that carry a `check`.
    const isInline = typeof guard === "function" && !("check" in guard);
    if (!isInline || to?.parent !== root || to === node || actions.length > 0 || reenter) return null;
    found.push({ guard: guard as unknown as Following["guard"], to: to.key });
  }
  return found;
}

/** The state's own come first; what it does not name is the root's. */
function decisionsOf(node: AnyStateNode, root: AnyStateNode): Map<string, Hosted> {
  const found = new Map<string, Hosted>();
  const hasWildcard = [...node.transitions.keys()].some((descriptor) => descriptor.endsWith("*"));
  for (const level of hasWildcard ? [node] : [root, node]) {
    for (const [type, [first]] of level.transitions) {
      const decision = first === undefined ? undefined : decisionAt(first);
      if (decision === undefined) found.delete(type);
      else found.set(type, decision);
    }
  }
  return found;
}

function decisionAt({ guard, target, actions, reenter }: TransitionOf): Hosted | undefined {
  const isPlain = guard === undefined && target === undefined && !reenter && actions.length === 1;
  return isPlain ? hostedBy(actions[0]) : undefined;
}
