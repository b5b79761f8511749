/**
 * A clock whose callbacks survive damage on disk: work in the background that reads a damaged row is given up and reported, and
 * does not end the process, which serves everything else. Any other error is a bug and passes.
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
