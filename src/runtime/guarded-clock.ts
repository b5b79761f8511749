/**
 * A clock whose callbacks survive damaged data, a lack of descriptors and bugs: that background work is abandoned and
 * reported, and the process keeps serving everything else. Work that must be done again sets its next timer first, or
 * in a `finally`. Any other error may be a write that failed, so it is rethrown and ends the process (M5). Turns do not
 * rely on this: the dispatcher ends the process itself.
 */
import { damageIn } from "../store/damage.ts";
import { isOutOfDescriptors } from "../store/descriptors.ts";
import type { Clock } from "./clock.ts";

export function guardedClock(clock: Clock, report: (error: unknown) => void): Clock {
  const guarded = (callback: () => void) => () => {
    try {
      callback();
    } catch (error) {
      if (damageIn(error) === null && !isOutOfDescriptors(error) && !isBug(error)) throw error;
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

/** Errors of the language and of arguments. Neither LMDB nor the file system reports a failed write as one of them. */
function isBug(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
}
