/**
 * A table of a machine's decisions, read from the machine itself, so that a command costs a lookup instead of XState's
 * interpreter (`drive` in drive.ts). It covers one decision without a guard in a flat state, and eventless
 * transitions that depend on the context: nearly all of our commands. For everything else (event guards, targets, entry
 * and exit actions, nested and final states, wildcards) it returns undefined, and XState decides.
 */
import type { AnyStateMachine, AnyStateNode } from "xstate";
import type { Refusal } from "../../schemas/errors.ts";
import type { AnyDecision } from "./decide.ts";
import { type CommandEvent, nothing, type OutcomeAction, outcomeAction } from "./machine-setup.ts";

type TransitionOf = NonNullable<AnyStateNode["always"]>[number];

interface Following {
  readonly guard: (seen: { readonly context: unknown; readonly event: CommandEvent }) => boolean;
  readonly to: string;
}

interface StateRow {
  readonly decisions: ReadonlyMap<string, AnyDecision>;
  readonly rejections: ReadonlyMap<string, () => Refusal>;
  /** In order: the first whose guard holds is taken. */
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
      this.#rows.set(node.key, { ...actionsOf(node, root), following });
    }
  }

  /** Returns undefined if the table does not cover the command. */
  decisionFor(state: string, type: string): AnyDecision | undefined {
    return this.#rows.get(state)?.decisions.get(type);
  }

  /** The refusal of a state that rejects the command, whatever its context; otherwise null. */
  rejectionFor(state: string, type: string): Refusal | null {
    return this.#rows.get(state)?.rejections.get(type)?.() ?? null;
  }

  /** The state in which the machine comes to rest; undefined if the table does not cover it. */
  settled(state: string, context: unknown, event: CommandEvent): string | undefined {
    let at = state;
    // No state is visited twice; a cycle is left to XState to report.
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

/** Whether entering, staying in or leaving the state has any effect. */
function hasLife({ entry, exit, invoke, after }: AnyStateNode): boolean {
  return entry.length + exit.length + invoke.length + after.length > 0;
}

/** Returns null if a transition is more than a guard and a sibling state. */
function followingOf(node: AnyStateNode, root: AnyStateNode): Following[] | null {
  const found: Following[] = [];
  for (const { guard, target, actions, reenter } of node.always ?? []) {
    const to = target?.length === 1 ? target[0] : undefined;
    // XState's own guards (`not`, `and`, `stateIn`) are functions with a `check` property.
    const isInline = typeof guard === "function" && !("check" in guard);
    if (!isInline || to?.parent !== root || to === node || actions.length > 0 || reenter) return null;
    found.push({ guard: guard as unknown as Following["guard"], to: to.key });
  }
  return found;
}

/** The state's own decisions override those of the root. */
function actionsOf(node: AnyStateNode, root: AnyStateNode): Pick<StateRow, "decisions" | "rejections"> {
  const decisions = new Map<string, AnyDecision>();
  const rejections = new Map<string, () => Refusal>();
  const hasWildcard = [...node.transitions.keys()].some((descriptor) => descriptor.endsWith("*"));
  for (const level of hasWildcard ? [node] : [root, node]) {
    for (const [type, [first]] of level.transitions) {
      decisions.delete(type);
      rejections.delete(type);
      const action = first === undefined ? null : onlyAction(first);
      if (action === null) continue;
      if (action.type === "reject") rejections.set(type, action.params.refusal);
      decisions.set(type, decisionOf(action));
    }
  }
  return { decisions, rejections };
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

function onlyAction({ guard, target, actions, reenter }: TransitionOf): OutcomeAction | null {
  const isPlain = guard === undefined && target === undefined && !reenter && actions.length === 1;
  return isPlain ? outcomeAction(actions[0]) : null;
}
