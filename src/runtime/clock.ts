/**
 * The clock port: the only place (with main) that reads time, sets timers or says when a turn may run, so that tests can own
 * time and the order of things (D26, M4).
 */
export interface Clock {
  /** Wall-clock milliseconds since 1970; may jump. */
  now(): number;
  /** Milliseconds that only grow; for budgets and durations. */
  monotonic(): number;
  /** @returns cancels the timer */
  after(milliseconds: number, callback: () => void): () => void;
  /** In the next pass of the loop, after what has arrived in this one. */
  soon(callback: () => void): void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
  soon: (callback) => void setImmediate(callback),
};
