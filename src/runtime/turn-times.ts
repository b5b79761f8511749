/** The two times that a view shows: the turn's during a turn, the realm's between turns. */
import { limits } from "../../schemas/limits.ts";
import type { RealmTime } from "./realm-time.ts";

export interface Times {
  readonly now: number;
  /** See `View.dueNow`. */
  readonly dueNow: number;
}

export function timesOf(time: RealmTime, turn: Times, isInTurn: () => boolean): Times {
  return {
    get now() {
      return isInTurn() ? turn.now : Math.max(time.now(), turn.now);
    },
    get dueNow() {
      return isInTurn() ? turn.dueNow : dueNowAt(this.now, time.due());
    },
  };
}

/**
 * If the clock was set back a little, time waits for it, as in the realm's time. A `due` far behind `now` is deliberate
 * and is kept.
 */
export function dueNowAt(now: number, due: number): number {
  return now - due > limits.clock_jump_ms_max ? due : now;
}
