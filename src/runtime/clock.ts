/**
 * The clock port: the only place (with main) that reads time, sets timers or says when a turn may run, so that tests can own
 * time and the order of things (D26, M4).
 */
import { readFileSync } from "node:fs";
import { uptime } from "node:os";

export interface Clock {
  /** Wall-clock milliseconds since 1970; may jump. */
  now(): number;
  /** Milliseconds that only grow; for budgets and durations. It stands still while the machine sleeps. */
  monotonic(): number;
  /** Milliseconds since the machine was started, its sleep included. */
  uptimeMs(): number;
  /** Changes with each start of the machine; "": not known. */
  readonly bootId: string;
  /** @returns cancels the timer */
  after(milliseconds: number, callback: () => void): () => void;
  /** In the next pass of the loop, after what has arrived in this one. */
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
