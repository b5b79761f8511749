/** Durable timers that can be cancelled (M8). A row has at most one timer, however often its time changes. */
import type { View } from "../../domain/view.ts";
import { type Effect, effects } from "../protocol/decision.ts";

/** The two parts of a timer's key, as stored in the row. */
export interface TimerKey {
  readonly dueAt: number;
  /** null: the timer has fired. */
  readonly timer: number | null;
}

/**
 * Sequence number of the first timer that a command sets. It is valid because nothing else takes one between the
 * decision and its effects.
 */
export function nextTimer(view: View): number {
  return view.counter("sequence") + 1;
}

/**
 * Cancels the row's current timer. If it is firing now, its command finds a different timer in the row and does
 * nothing.
 */
export function cancelTimer({ dueAt, timer }: TimerKey): Effect[] {
  return timer === null ? [] : [effects.remove("timers", [dueAt, timer])];
}
