/**
 * Volatile timers (M8): one clock timer for all of them, in buckets of `tickMs`; it is set only while a timer waits, for
 * the earliest one. Setting a name again moves its timer. They are lost with the process, which suits their uses: typing
 * expiry, presence time-outs, coalescing.
 */
import type { Clock } from "./clock.ts";

const tickMs = 100;

/** Waits of this length end on a whole second, so that the timers of many realms wake the process together. */
const longWaitMs_min = 60_000;
const ticksPerSecond = 1000 / tickMs;

/** The system's timers may fire early by up to a millisecond. */
const earlyMs = 1;

export class VolatileTimers {
  readonly #clock: Clock;
  readonly #buckets = new Map<number, Map<string, () => void>>();
  readonly #bucketOf = new Map<string, number>();
  /** The bucket that the clock timer waits for; null if none is set. Its timers may have been cancelled meanwhile. */
  #awaited: number | null = null;
  #cancelWake: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Fires once, `afterMs` from now or up to one tick later; up to a second later after a long wait. */
  set(name: string, afterMs: number, callback: () => void): void {
    this.cancel(name);
    const ticks = afterMs < longWaitMs_min ? 1 : ticksPerSecond;
    const bucket = Math.ceil((this.#clock.monotonic() + afterMs) / tickMs / ticks) * ticks;
    const timers = this.#buckets.get(bucket);
    if (timers === undefined) this.#buckets.set(bucket, new Map([[name, callback]]));
    else timers.set(name, callback);
    this.#bucketOf.set(name, bucket);
    this.#wakeAt(bucket);
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
    this.#cancelWake();
    this.#awaited = null;
  }

  #wakeAt(bucket: number): void {
    if (this.#awaited !== null && this.#awaited <= bucket) return;
    this.#cancelWake();
    this.#awaited = bucket;
    const delay = Math.ceil(bucket * tickMs - this.#clock.monotonic());
    this.#cancelWake = this.#clock.after(Math.max(0, delay), () => this.#wake());
  }

  #wake(): void {
    this.#awaited = null;
    try {
      this.#fireDue();
    } finally {
      const earliest = this.#earliest();
      if (earliest !== null) this.#wakeAt(earliest);
    }
  }

  #earliest(): number | null {
    let earliest = Number.POSITIVE_INFINITY;
    for (const bucket of this.#buckets.keys()) earliest = Math.min(earliest, bucket);
    return earliest === Number.POSITIVE_INFINITY ? null : earliest;
  }

  #fireDue(): void {
    const due = (this.#clock.monotonic() + earlyMs) / tickMs;
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
