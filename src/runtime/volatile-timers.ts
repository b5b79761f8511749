/**
 * Volatile timers (M8): one clock timer for all of them, in buckets of `tickMs`. Setting a name again moves its timer.
 * They are lost with the process, which suits their uses: typing expiry, presence time-outs, coalescing.
 */
import type { Clock } from "./clock.ts";

const tickMs = 100;

export class VolatileTimers {
  readonly #clock: Clock;
  readonly #buckets = new Map<number, Map<string, () => void>>();
  readonly #bucketOf = new Map<string, number>();
  #cancelTick: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Fires once, `afterMs` from now or up to one tick later. */
  set(name: string, afterMs: number, callback: () => void): void {
    this.cancel(name);
    const bucket = Math.ceil((this.#clock.monotonic() + afterMs) / tickMs);
    const timers = this.#buckets.get(bucket);
    if (timers === undefined) this.#buckets.set(bucket, new Map([[name, callback]]));
    else timers.set(name, callback);
    this.#bucketOf.set(name, bucket);
    this.#tickLater();
  }

  /** The clock of these timers: milliseconds that only grow. */
  get now(): number {
    return this.#clock.monotonic();
  }

  has(name: string): boolean {
    return this.#bucketOf.has(name);
  }

  cancel(name: string): void {
    const bucket = this.#bucketOf.get(name);
    if (bucket === undefined) return;
    this.#bucketOf.delete(name);
    const timers = this.#buckets.get(bucket);
    timers?.delete(name);
    if (timers?.size === 0) this.#buckets.delete(bucket);
  }

  stop(): void {
    this.#buckets.clear();
    this.#bucketOf.clear();
    this.#cancelTick?.();
    this.#cancelTick = null;
  }

  #tickLater(): void {
    if (this.#cancelTick !== null || this.#buckets.size === 0) return;
    this.#cancelTick = this.#clock.after(tickMs, () => {
      this.#cancelTick = null;
      this.#fireDue();
      this.#tickLater();
    });
  }

  #fireDue(): void {
    const due = this.#clock.monotonic() / tickMs;
    for (const [bucket, timers] of [...this.#buckets]) {
      if (bucket > due) continue;
      // A callback may cancel or move other timers of its bucket, so each is looked up again before it fires.
      for (const [name, callback] of [...timers]) {
        if (this.#bucketOf.get(name) !== bucket) continue;
        this.cancel(name);
        callback();
      }
    }
  }
}
