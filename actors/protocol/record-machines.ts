/**
 * Records with a life of their own but without a mailbox, such as user groups: the actor that keeps their table finds
 * the record and checks who may change it, then the record's machine decides. The state follows from the row, so
 * nothing else is stored.
 */
import type { AnyStateMachine } from "xstate";
import type { View } from "../../domain/view.ts";
import type { Refusal } from "../../schemas/errors.ts";
import type { Command, CommandType } from "./commands.ts";
import type { Outcome } from "./decide.ts";
import { drive } from "./drive.ts";
import { tableOf } from "./machine-tables.ts";

/** What the decisions of a record see. A decision that changes the row returns the new one in its context. */
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
