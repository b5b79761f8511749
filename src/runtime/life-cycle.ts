/**
 * The life cycle of an object as a table: state, event, next state. A class keeps its state as a union by `kind` and
 * changes it with `step`, so a transition that the table lacks does not compile; docs/state-machines.md is drawn from
 * the tables. These objects exist by the thousand on the hot path, where an XState machine for each would cost too much.
 */

/** The first state is the initial one. */
export type LifeCycle = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** @returns the next state, which must be the one to which the table leads from this state by this event */
export function step<
  T extends LifeCycle,
  From extends keyof T,
  On extends keyof T[From],
  To extends { readonly kind: T[From][On] },
>(_table: T, _from: { readonly kind: From }, _on: On, to: To): To {
  return to;
}
