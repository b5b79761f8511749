/**
 * A clock whose callbacks survive damaged data: background work that reads a damaged row is abandoned and reported, and
 * the process keeps serving everything else. Any other error is a bug and is rethrown.
 */
import { damageIn } from "../store/damage.ts";
import type { Clock } from "./clock.ts";

export function guardedClock(clock: Clock, report: (error: unknown) => void): Clock {
  const guarded = (callback: () => void) => () => {
    try {
      callback();
    } catch (error) {
      if (damageIn(error) === null) throw error;
      report(error);
    }
  };
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    uptimeMs: () => clock.uptimeMs(),
    bootId: clock.bootId,
    after: (milliseconds, callback) => clock.after(milliseconds, guarded(callback)),
    soon: (callback) => clock.soon(guarded(callback)),
  };
}
