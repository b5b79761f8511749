/**
 * Pauses between attempts, with full jitter: each is random between zero and a ceiling that doubles, so that clients
 * that lost their connection together do not come back together.
 */

export const backoffLimits = { base_ms: 250, ceiling_ms_max: 30_000 } as const;

export class Backoff {
  #failures = 0;

  /** @param leastMs what the server asked for */
  next(leastMs = 0): number {
    const { base_ms: base, ceiling_ms_max: most } = backoffLimits;
    const ceiling = Math.min(most, base * 2 ** Math.min(this.#failures++, 20));
    return leastMs + Math.random() * ceiling;
  }

  /** The next pause has the highest ceiling. */
  raise(): void {
    this.#failures = 20;
  }

  reset(): void {
    this.#failures = 0;
  }
}

/** Resolves after the time, or when the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
