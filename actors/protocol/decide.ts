/**
 * A decision is a pure function of context, command and view (M4) that returns an outcome: effects, or a declared
 * refusal. States and guards are in the machines (machine-setup.ts), which name their decisions.
 */

import type { View } from "../../domain/view.ts";
import type { Answer } from "../../schemas/answer.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { Command, CommandType } from "./commands.ts";
import type { Effect } from "./effects.ts";

export interface Done<C> {
  readonly kind: "done";
  /** null: the request is answered by a `reply` effect of a later turn. */
  readonly answer: Answer | null;
  readonly effects: readonly Effect[];
  readonly context?: Partial<C>;
  /** The deferred answer, if it is already known: it is stored under the request's Idempotency-Key at once (D25). */
  readonly keptAnswer?: Answer;
}

export type Outcome<C = unknown> = Done<C> | Refusal;

/** @template W the context that it may write, if its state guarantees more of the context that it reads */
export type Decision<C, T extends CommandType, W = C> = (context: C, command: Command<T>, view: View) => Outcome<W>;

/** The decisions of a state, or those that an area adds to an actor, by type of command. */
export type Decisions<C, W = C> = { readonly [T in CommandType]?: Decision<C, T, W> };

/** A decision of any machine, as the driver calls it: the machine pairs it with its context and type of command. */
export type AnyDecision = (context: never, command: Command<never>, view: View) => Outcome;

export function done<C>(answer: Answer | null, effects: readonly Effect[], context?: Partial<C>): Done<C> {
  return context === undefined ? { kind: "done", answer, effects } : { kind: "done", answer, effects, context };
}

/** The caller's user record; null if the server itself sent the command. */
export function callerOf(command: Command, view: View) {
  return command.callerId === null ? null : (view.users.get(command.callerId) ?? null);
}

/**
 * Checked before every decision: the caller or the organization may have been deactivated between the request and its
 * turn, and the state in the turn decides (M7).
 */
export function refuseCaller({ callerId }: Command, view: View): Refusal | null {
  if (callerId === null) return null;
  if (view.users.get(callerId)?.isActive !== true) return refuse.userDeactivated();
  return view.realm.deactivatedAt === null ? null : refuse.realmDeactivated();
}
