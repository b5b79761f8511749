/** The two times that a view shows: the turn's while one runs, the realm's between turns. */
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
      return isInTurn() ? turn.dueNow : dueBeside(this.now, time.due());
    },
  };
}

/** A clock that was set back a little is waited for, as in the realm's time; what is far behind it has a reason. */
export function dueBeside(now: number, due: number): number {
  return now - due > limits.clock_leap_ms_max ? due : now;
}
