/**
 * A clock that stands still until a test moves it (the port is src/runtime/clock.ts). Timers fire in order of due time, each
 * at its own moment, so that a timer set by another one fires in the same `advance` when it is due. `release` hands over to
 * real time, for a shutdown that waits on timers.
 */
import type { Clock } from "../../src/runtime/clock.ts";

interface Timer {
  readonly dueAt: number;
  readonly callback: () => void;
}

export class ManualClock implements Clock {
  readonly #startedAt: number;
  #elapsed = 0;
  #isReleased = false;
  readonly #timers = new Set<Timer>();
  readonly bootId: string = "manual";

  /** @param startedAt wall-clock milliseconds of the first moment */
  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  now(): number {
    return this.#startedAt + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  /** As of a machine that was on all the time, since 1970: another clock that begins later is the same machine, restarted. */
  uptimeMs(): number {
    return this.#startedAt + this.#elapsed;
  }

  after(milliseconds: number, callback: () => void): () => void {
    if (this.#isReleased) {
      const real = setTimeout(callback, milliseconds);
      return () => clearTimeout(real);
    }
    const timer = { dueAt: this.#elapsed + Math.max(0, milliseconds), callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  soon(callback: () => void): void {
    setImmediate(callback);
  }

  /** Time passes while something is being done: what falls due fires when the clock is moved next. */
  slip(milliseconds: number): void {
    this.#elapsed += milliseconds;
  }

  /** Moves time; what falls due on the way fires before this returns. */
  advance(milliseconds: number): void {
    const target = this.#elapsed + milliseconds;
    for (let next = this.#nextDue(target); next !== undefined; next = this.#nextDue(target)) {
      this.#elapsed = Math.max(this.#elapsed, next.dueAt);
      this.#timers.delete(next);
      next.callback();
    }
    this.#elapsed = Math.max(this.#elapsed, target);
  }

  /** Time passes at once, as for a machine that slept: what fell due fires afterwards, late, each timer once. */
  jump(milliseconds: number): void {
    this.slip(milliseconds);
    this.advance(0);
  }

  #nextDue(target: number): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueAt <= target && (earliest === undefined || timer.dueAt < earliest.dueAt)) earliest = timer;
    }
    return earliest;
  }

  /** From now on, timers are real ones; those that wait become due at once, unless they are cancelled first. */
  release(): void {
    this.#isReleased = true;
    for (const timer of this.#timers) {
      setTimeout(() => {
        if (this.#timers.delete(timer)) timer.callback();
      }, 0).unref();
    }
  }
}
