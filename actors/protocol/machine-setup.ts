/**
 * The parts that all machines are built from: a state lists the commands that it decides, with the states that each may
 * lead to, and those that it rejects, as plain data. A decision is pure, so a guard may ask it which of the states
 * follows. An action emits exactly one outcome; `assign` then updates the context. The driver reads the same data
 * (record-machines.ts), so that a command costs a lookup and a call of its decision.
 */
import { enqueueActions, type MachineContext, setup } from "xstate";
import type { View } from "../../domain/view.ts";
import type { Refusal } from "../../schemas/errors.ts";
import {
  type AnyDecision,
  type Command,
  type CommandType,
  type Decision,
  type Decisions,
  done,
  type Outcome,
} from "./decision.ts";

/** The event that a machine receives. `type` equals the command's type, so that states can list what they accept. */
export interface CommandEvent<T extends CommandType = CommandType> {
  readonly type: T;
  readonly command: Command<T>;
  readonly view: View;
}

/** Emitted by a transition, exactly once per command. */
export interface Emitted {
  readonly type: "outcome";
  readonly outcome: Outcome;
}

interface DecideAction {
  readonly type: "decide";
  readonly params: { readonly decision: AnyDecision };
}

/** The state does not allow the command, whatever the context is. */
interface RejectAction {
  readonly type: "reject";
  readonly params: { readonly refusal: () => Refusal };
}

/** The command arrives too late or too early for the state: a timer that is obsolete, a step that has nothing to do. */
interface IgnoreAction {
  readonly type: "ignore";
}

/** An action that emits an outcome. */
export type OutcomeAction = DecideAction | RejectAction | IgnoreAction;

/** The guard of a transition to another state. */
export interface LeadsTo {
  readonly type: "leadsTo";
  readonly params: { readonly decision: AnyDecision; readonly to: string; readonly when: string };
}

/** Returns the guard if it is of a transition to another state; otherwise null. */
export function leadsToGuard(guard: unknown): LeadsTo | null {
  const isOurs = typeof guard === "object" && guard !== null && "type" in guard && guard.type === "leadsTo";
  // `setupMachine` types these guards in our machines.
  return isOurs ? (guard as LeadsTo) : null;
}

type Transitions<T extends CommandType, A> = { readonly [K in T]: { readonly actions: A } };

/** The states that a command may lead to, each with a word about when. */
type Targets = Readonly<Record<string, string>>;

interface Leading {
  readonly guard?: LeadsTo;
  readonly target?: string;
  readonly actions: DecideAction;
}

/** Returns the action if it emits an outcome; otherwise null. */
export function outcomeAction(action: unknown): OutcomeAction | null {
  if (typeof action !== "object" || action === null || !("type" in action)) return null;
  const { type } = action;
  // `setupMachine` types these actions in our machines.
  return type === "decide" || type === "reject" || type === "ignore" ? (action as OutcomeAction) : null;
}

/**
 * The transitions of a state that decides the commands of these areas.
 * @throws Error if two areas decide the same command
 */
export function decide<C, W = C>(
  ...areas: readonly Decisions<C, W>[]
): Partial<Transitions<CommandType, DecideAction>> {
  const all = areas.flatMap((decisions) => Object.entries(decisions) as [CommandType, Decision<C, CommandType, W>][]);
  const transitions = Object.fromEntries(
    all.map(([type, decision]) => [type, { actions: { type: "decide" as const, params: { decision } } }]),
  );
  if (Object.keys(transitions).length < all.length) throw new Error("two areas decide one command");
  return transitions;
}

/**
 * The transitions of a state whose decisions may lead to other states: `to` of their outcome says to which.
 * @throws Error if a command with targets is not decided
 */
export function lead(
  decided: Partial<Transitions<CommandType, DecideAction>>,
  targets: { readonly [T in CommandType]?: Targets },
): { readonly [T in CommandType]?: Leading | readonly Leading[] } {
  const leading = Object.entries(targets).map(([type, states]) => {
    const stays = decided[type as CommandType];
    if (stays === undefined) throw new Error(`nothing decides ${type}`);
    const { actions } = stays;
    const { decision } = actions.params;
    const leaves = Object.entries(states).map(
      ([to, when]): Leading => ({ guard: { type: "leadsTo", params: { decision, to, when } }, target: to, actions }),
    );
    return [type, [...leaves, stays]] as const;
  });
  return { ...decided, ...Object.fromEntries(leading) };
}

/** The transitions of a state that rejects these commands. */
export function reject(
  refusal: () => Refusal,
  types: readonly CommandType[],
): Partial<Transitions<CommandType, RejectAction>> {
  const transition = { actions: { type: "reject" as const, params: { refusal } } };
  return Object.fromEntries(types.map((type) => [type, transition]));
}

/**
 * The transitions of a record's state that allows commands about other records that name this one
 * (`refusedByRecord`).
 */
export function permit(types: readonly CommandType[]): Partial<Transitions<CommandType, DecideAction>> {
  const transition = { actions: { type: "decide" as const, params: { decision: nothing } } };
  return Object.fromEntries(types.map((type) => [type, transition]));
}

/** The transitions of a state that ignores these commands: they succeed and change nothing. */
export function ignore(types: readonly CommandType[]): Partial<Transitions<CommandType, IgnoreAction>> {
  const transition = { actions: { type: "ignore" as const } };
  return Object.fromEntries(types.map((type) => [type, transition]));
}

export function nothing(): Outcome {
  return done({}, []);
}

/**
 * Used for "*" at the root: an event that no state handles is a bug of its sender and must never be ignored
 * (architecture, The actors).
 */
export const rejectUnhandled = { "*": { actions: { type: "rejectUnhandled" } } } as const;

/** XState's `setup` with the actions and the guard above. Machines invoke and spawn nothing, and emit only outcomes. */
export function setupMachine<C extends MachineContext>() {
  return setup({
    types: { context: {} as C, events: {} as CommandEvent, emitted: {} as Emitted, input: {} as C },
    guards: {
      leadsTo: ({ context, event }, { decision, to }: LeadsTo["params"]) => {
        const outcome = decision(context as never, event.command as never, event.view);
        return outcome.kind === "done" && outcome.to === to;
      },
    },
    actions: {
      decide: enqueueActions(({ context, event, enqueue }, { decision }: DecideAction["params"]) => {
        const outcome = decision(context as never, event.command as never, event.view);
        if (outcome.kind === "done" && outcome.context !== undefined) enqueue.assign(outcome.context as never);
        enqueue.emit({ type: "outcome", outcome });
      }),
      reject: enqueueActions(({ enqueue }, { refusal }: RejectAction["params"]) => {
        enqueue.emit({ type: "outcome", outcome: refusal() });
      }),
      ignore: enqueueActions(({ enqueue }) => {
        enqueue.emit({ type: "outcome", outcome: nothing() });
      }),
      rejectUnhandled: enqueueActions(({ event }) => {
        throw new Error(`no state handles the event ${event.type}`);
      }),
    },
  });
}
