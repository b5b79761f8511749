// Open-loop arrivals at a fixed rate. Arrival i is due at start + i/rate whatever the server does, and latency counts
// from its due time, so the delay of a stalled server counts for every arrival that was due meanwhile (no coordinated
// omission).

/** A Node timer fires up to this late; shorter waits spin on the event loop. */
const TIMER_SLACK_MS = 1.2;

export interface Arrivals {
  readonly ratePerSecond: number;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Called once per arrival with its due time; false stops the arrivals. */
  readonly onArrival: (dueAt: number) => boolean;
}

/** Resolves when the last arrival has been handled or `onArrival` returned false. */
export function runArrivals(arrivals: Arrivals): Promise<void> {
  const { promise, resolve } = deferred();
  const intervalMs = 1000 / arrivals.ratePerSecond;
  let issued = 0;
  const pump = (): void => {
    const now = performance.now();
    for (
      let dueAt = arrivals.fromMs + issued * intervalMs;
      dueAt <= now;
      dueAt = arrivals.fromMs + issued * intervalMs
    ) {
      if (dueAt >= arrivals.untilMs || !arrivals.onArrival(dueAt)) {
        resolve();
        return;
      }
      issued += 1;
    }
    const waitMs = arrivals.fromMs + issued * intervalMs - performance.now();
    if (waitMs > TIMER_SLACK_MS) setTimeout(pump, waitMs - TIMER_SLACK_MS);
    else setImmediate(pump);
  };
  pump();
  return promise;
}

/** A promise and its resolve function (Node 20 has no Promise.withResolvers). */
export function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
