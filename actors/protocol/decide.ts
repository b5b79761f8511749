/**
 * A decision is a pure function of context, command and view (M4) that returns an outcome: effects, or a declared
 * refusal. States and guards are in the machines (machine-setup.ts), which name their decisions.
 */

import { isAdministrator } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { Answer } from "../../schemas/answer.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Command, CommandType } from "./commands.ts";
import type { Effect } from "./effects.ts";

export interface Done<C> {
  readonly kind: "done";
  /** null: the request is answered by a `reply` effect of a later turn. */
  readonly answer: Answer | null;
  readonly effects: readonly Effect[];
  readonly context?: Partial<C>;
  /** The state that follows, one of those that the machine lists for the event; its own or none: it stays. */
  readonly to?: string;
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

export function done<C>(answer: Answer | null, effects: readonly Effect[], context?: Partial<C>, to?: string): Done<C> {
  if (to !== undefined && context !== undefined) return { kind: "done", answer, effects, context, to };
  if (to !== undefined) return { kind: "done", answer, effects, to };
  return context === undefined ? { kind: "done", answer, effects } : { kind: "done", answer, effects, context };
}

/** A command with these parameters, of any type. */
type With<P> = Omit<Command, "params"> & { readonly params: P };

/** Decides a request of a user, who is active (`refuseCaller`). The rarer arguments are last. */
type ForUser<P, K, C, W> = (caller: UserRecord, params: P, view: View, request: K, context: C) => Outcome<W>;

/** A decision about requests of users: its command always has a caller. */
export function forUser<P, K extends With<P>, C, W>(decide: ForUser<P, K, C, W>) {
  return (context: C, request: K & With<P>, view: View): Outcome<W> =>
    decide(requireCaller(request, view), request.params, view, request, context);
}

/** Like `forUser`; other callers are refused before anything else is looked at, and few decisions need the caller. */
export function forAdministrator<P, K extends With<P>, C, W>(
  decide: (params: P, view: View, caller: UserRecord, request: K, context: C) => Outcome<W>,
) {
  return (context: C, request: K & With<P>, view: View): Outcome<W> => {
    const caller = requireCaller(request, view);
    return isAdministrator(caller)
      ? decide(request.params, view, caller, request, context)
      : refuse.administratorRequired();
  };
}

/** A decision about requests of users that the server makes, too, for which `caller` is null. */
export function forEither<P, K extends With<P>, C, W>(
  decide: (caller: UserRecord | null, params: P, view: View, request: K, context: C) => Outcome<W>,
) {
  const decision = (context: C, request: K & With<P>, view: View): Outcome<W> =>
    decide(callerOf(request, view), request.params, view, request, context);
  return Object.assign(decision, serverMayCall);
}

/** A decision about what the server continues, expires or reports, and the operator commands. No user may. */
export function forServer<P, K extends With<P>, W>(decide: (params: P, view: View, request: K) => Outcome<W>) {
  const decision = (_context: unknown, request: K & With<P>, view: View): Outcome<W> =>
    request.callerId === null ? decide(request.params, view, request) : refuse.insufficientPermission();
  return Object.assign(decision, serverMayCall);
}

const serverMayCall = { mayServerCall: true } as const;

/** Whether the server itself sends the command, and not only users. */
export function mayServerCall(decision: object): boolean {
  return "mayServerCall" in decision;
}

/** The caller's user record; null if the server itself sent the command. */
export function callerOf({ callerId }: Pick<Command, "callerId">, view: View): UserRecord | null {
  return callerId === null ? null : (view.users.get(callerId) ?? null);
}

/** @throws Error if the server sent a command that only users may send, which is a bug (M6) */
function requireCaller({ callerId, type }: Pick<Command, "callerId" | "type">, view: View): UserRecord {
  const caller = callerId === null ? undefined : view.users.get(callerId);
  if (caller === undefined) throw new Error(`${type} has no caller`);
  return caller;
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
