/** The clock port: the only place (with main) that reads time or sets timers, so that tests can own time (D26, M4). */
export interface Clock {
  /** Wall-clock milliseconds since 1970; may jump. */
  now(): number;
  /** Milliseconds that only grow; for budgets and durations. */
  monotonic(): number;
  /** @returns cancels the timer */
  after(milliseconds: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};
