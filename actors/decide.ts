/**
 * How a machine hosts decisions. A decision is a pure function of context, command and view (M4) that gives an outcome:
 * done with effects, or refused with a declared error. `decide` makes it an action of a machine: the outcome leaves as
 * the one emitted value of the transition, the context changes by `assign`. States and guards stay in the machine.
 */
import { type ActionFunction, enqueueActions, type MachineContext } from "xstate";
import { type Refusal, refuse } from "../schemas/errors.ts";
import type { View } from "../src/domain/view.ts";
import type { Command, CommandType } from "./commands.ts";
import type { Answer, Effect } from "./effects.ts";

export interface Done<C> {
  readonly kind: "done";
  /** null: the answer comes in a later turn, by a `reply` effect. */
  readonly answer: Answer | null;
  readonly effects: readonly Effect[];
  readonly context?: Partial<C>;
  /** The answer to come, where it is known now: it is kept under the request's Idempotency-Key at once (D25). */
  readonly keptAnswer?: Answer;
}

export type Outcome<C = unknown> = Done<C> | Refusal;

/** What a machine receives. `type` is the command's, so that states can name what they accept. */
export interface CommandEvent<T extends CommandType = CommandType> {
  readonly type: T;
  readonly command: Command<T>;
  readonly view: View;
}

/** What leaves a transition: exactly one per command. */
export interface Emitted {
  readonly type: "outcome";
  readonly outcome: Outcome;
}

export type Decision<C, T extends CommandType> = (context: C, command: Command<T>, view: View) => Outcome<C>;

export function done<C>(answer: Answer | null, effects: readonly Effect[], context?: Partial<C>): Done<C> {
  return context === undefined ? { kind: "done", answer, effects } : { kind: "done", answer, effects, context };
}

/** The caller's record, which a decision may need at any time; null for the server itself. */
export function callerOf(command: Command, view: View) {
  return command.callerId === null ? null : (view.users.get(command.callerId) ?? null);
}

/** The action type of our machines: they invoke and spawn nothing, and emit outcomes only. */
type HostAction<C extends MachineContext> = ActionFunction<
  C,
  CommandEvent,
  CommandEvent,
  undefined,
  never,
  never,
  never,
  never,
  Emitted
>;

interface ActionArguments<C> {
  readonly context: C;
  readonly event: CommandEvent;
  readonly enqueue: {
    assign(context: Partial<C>): void;
    emit(emitted: Emitted): void;
  };
}

/** A decision with what every decision is under, without the machine around it. */
export type Hosted = (context: never, event: CommandEvent) => Outcome;

const hosted = new WeakMap<object, Hosted>();

/** The decision that an action of a machine carries out; undefined: it is another action. */
export function hostedBy(action: unknown): Hosted | undefined {
  return typeof action === "function" ? hosted.get(action) : undefined;
}

/** The two actions that a machine with context `C` is made of. */
export function hosting<C extends MachineContext>() {
  return {
    /** Carries out a decision. */
    decide<T extends CommandType>(decision: Decision<C, T>): HostAction<C> {
      const decideOn = (context: C, { command, view }: CommandEvent): Outcome<C> => {
        // Between the request and its turn the caller or the organization may have been deactivated: the line decides (M7).
        if (command.callerId !== null) {
          if (view.users.get(command.callerId)?.isActive !== true) return refuse.userDeactivated();
          if (view.realm.deactivatedAt !== null) return refuse.realmDeactivated();
        }
        return decision(context, command as Command<T>, view);
      };
      const action = hostAction<C>(({ context, event, enqueue }) => {
        const outcome = decideOn(context, event);
        if (outcome.kind === "done" && outcome.context !== undefined) enqueue.assign(outcome.context);
        enqueue.emit({ type: "outcome", outcome });
      });
      hosted.set(action, decideOn);
      return action;
    },
    /** For the root's "*": an event that no state names is a bug of the sender, never silence (style.md, XState). */
    notUnderstood: hostAction<C>(({ event }) => {
      throw new Error(`the machine does not understand ${event.type}`);
    }),
  };
}

function hostAction<C extends MachineContext>(body: (args: ActionArguments<C>) => void): HostAction<C> {
  // XState types the arguments by the machine they end up in; ours are the same for every machine and named above.
  return enqueueActions(body as never) as unknown as HostAction<C>;
}
