/**
 * What all deliveries of a kind share, across organizations: a few at a time, an end to each, and a stop of the server that waits
 * for them a moment only.
 */
import type { Clock } from "../runtime/clock.ts";
import { Turnstile } from "./turnstile.ts";

export interface GateOptions {
  readonly clock: Clock;
  readonly concurrentMax: number;
  /** Of one delivery. */
  readonly msMax: number;
  /** How long those under way are waited for at the end. */
  readonly drainMsMax: number;
}

export type Passed<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "failed"; readonly error: unknown; readonly isLate: boolean }
  /** The server stops: nothing is known, it is as pending as before. */
  | { readonly kind: "interrupted" };

const interrupted = { kind: "interrupted" } as const;

export class Gate {
  readonly #options: GateOptions;
  readonly #turnstile: Turnstile;
  readonly #running = new Set<AbortController>();
  #quietWaiters: (() => void)[] = [];
  #isClosed = false;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#turnstile = new Turnstile(options.concurrentMax);
  }

  /** Never rejects. Each courier has a few here at most, so that who waits is bounded. */
  async pass<T>(work: (signal: AbortSignal) => Promise<T>): Promise<Passed<T>> {
    await this.#turnstile.enter();
    if (this.#isClosed) {
      this.#turnstile.leave();
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
    this.#turnstile.leave();
    if (this.#running.size === 0) for (const waiter of this.#quietWaiters.splice(0)) waiter();
  }

  /** Takes no more, gives what is under way a moment, and drops it then: what was not taken goes out after the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#running.size > 0) {
      await new Promise<void>((resolve) => {
        const cancel = this.#options.clock.after(this.#options.drainMsMax, resolve);
        this.#quietWaiters.push(() => {
          cancel();
          resolve();
        });
      });
    }
    for (const deadline of this.#running) deadline.abort();
  }
}

/** Ends with the deadline, whatever the work does. */
function withEnd<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  const ended = new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("took too long")), { once: true });
  });
  return Promise.race([work(signal), ended]);
}
