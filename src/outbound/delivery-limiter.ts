/**
 * Limits all deliveries of one kind, across organizations: a few at a time, a time limit for each, and a short wait for
 * running ones at shutdown.
 */
import type { Clock } from "../runtime/clock.ts";

/** A semaphore: at most `max` holders at a time, first come, first served. */
export class Semaphore {
  readonly #max: number;
  #inside = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** Resolves when there is room; call `leave` afterwards in any case. */
  async enter(): Promise<void> {
    if (this.#inside < this.#max) this.#inside++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Passes the slot to the longest waiter. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#inside--;
    else next();
  }
}

export interface DeliveryLimiterOptions {
  readonly clock: Clock;
  readonly concurrentMax: number;
  /** Time limit of one delivery. */
  readonly msMax: number;
  /** How long a shutdown waits for running deliveries. */
  readonly drainMsMax: number;
}

export type Passed<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "failed"; readonly error: unknown; readonly isLate: boolean }
  /** The server stops: nothing is known, it is as pending as before. */
  | { readonly kind: "interrupted" };

const interrupted = { kind: "interrupted" } as const;

export class DeliveryLimiter {
  readonly #options: DeliveryLimiterOptions;
  readonly #semaphore: Semaphore;
  readonly #running = new Set<AbortController>();
  #idleWaiters: (() => void)[] = [];
  #isClosed = false;

  constructor(options: DeliveryLimiterOptions) {
    this.#options = options;
    this.#semaphore = new Semaphore(options.concurrentMax);
  }

  /** Never rejects. Each caller has only a few deliveries in here, so the number of waiters is bounded. */
  async pass<T>(work: (signal: AbortSignal) => Promise<T>): Promise<Passed<T>> {
    await this.#semaphore.enter();
    if (this.#isClosed) {
      this.#semaphore.leave();
      return interrupted;
    }
    const deadline = new AbortController();
    this.#running.add(deadline);
    const cancel = this.#options.clock.after(this.#options.msMax, () => deadline.abort());
    try {
      return { kind: "done", value: await withEnd(work, deadline.signal) };
    } catch (error) {
      return this.#isClosed ? interrupted : { kind: "failed", error, isLate: deadline.signal.aborted };
    } finally {
      cancel();
      this.#finished(deadline);
    }
  }

  #finished(deadline: AbortController): void {
    this.#running.delete(deadline);
    this.#semaphore.leave();
    if (this.#running.size === 0) for (const waiter of this.#idleWaiters.splice(0)) waiter();
  }

  /**
   * Accepts no more deliveries, waits a moment for running ones, then aborts them: undelivered items are sent after the
   * next start.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#running.size > 0) {
      await new Promise<void>((resolve) => {
        const cancel = this.#options.clock.after(this.#options.drainMsMax, resolve);
        this.#idleWaiters.push(() => {
          cancel();
          resolve();
        });
      });
    }
    for (const deadline of this.#running) deadline.abort();
  }
}

/** Rejects at the deadline, whatever the work does. */
function withEnd<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  const ended = new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("took too long")), { once: true });
  });
  return Promise.race([work(signal), ended]);
}
