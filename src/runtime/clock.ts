/**
 * The clock port: besides main.ts the only place that reads time, sets timers or decides when a turn runs, so that
 * tests control time and order (D26, M4).
 */
import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import { damageIn } from "../store/damage.ts";
import { isOutOfDescriptors } from "../store/descriptors.ts";

/**
 * A clock whose callbacks survive damaged data, a lack of descriptors and bugs: that background work is abandoned and
 * reported, and the process keeps serving everything else. Work that must be done again sets its next timer first, or
 * in a `finally`. Any other error may be a write that failed, so it is rethrown and ends the process (M5). Turns do not
 * rely on this: the dispatcher ends the process itself.
 */
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

export interface Clock {
  /** Wall-clock milliseconds since 1970; may jump. */
  now(): number;
  /** Milliseconds that only grow, for budgets and durations. Does not advance while the machine sleeps. */
  monotonic(): number;
  /** Milliseconds since the machine started, including sleep. */
  uptimeMs(): number;
  /** Changes whenever the machine restarts; "" if unknown. */
  readonly bootId: string;
  /** @returns a function that cancels the timer */
  after(milliseconds: number, callback: () => void): () => void;
  /** Runs in the next iteration of the event loop, after the input that arrived in this one. */
  soon(callback: () => void): void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  uptimeMs: () => uptime() * 1000,
  bootId: readBootId(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
  soon: (callback) => void setImmediate(callback),
};

function readBootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 13);
  } catch {
    return "";
  }
}
