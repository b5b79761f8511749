/**
 * The clock port: besides main.ts the only place that reads time, sets timers or decides when a turn runs, so that
 * tests control time and order (D26, M4).
 */
import { readFileSync } from "node:fs";
import { uptime } from "node:os";

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
