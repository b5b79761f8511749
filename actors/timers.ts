/** Durable timers that can be taken back (M8): of what waits for its time there is one timer, however often the time changes. */
import type { View } from "../src/domain/view.ts";
import { type Effect, effects } from "./effects.ts";

/** What a row keeps of its timer: together the timer's key. */
export interface Timed {
  readonly dueAt: number;
  /** null: it has rung, for good or ill. */
  readonly timer: number | null;
}

/** The sequence of the first timer that a command sets: nothing between its decision and its effects takes another one. */
export function nextTimer(view: View): number {
  return view.counter("sequence") + 1;
}

/** The timer of before rings no more; if it rings at this very moment, its command finds another one in the row. */
export function takeBack({ dueAt, timer }: Timed): Effect[] {
  return timer === null ? [] : [effects.remove("timers", [dueAt, timer])];
}
