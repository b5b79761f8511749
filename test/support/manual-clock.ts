/**
 * A clock that does not advance until a test advances it (the port is src/runtime/clock.ts). Timers fire in order of
 * due time, each at its own time, so that a timer set by another one fires in the same `advance` if it is due.
 * `release` switches to real time, for a shutdown that waits for timers.
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

  /**
   * The uptime of a machine that was booted in 1970, so a later clock means the same machine with a restarted server.
   */
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

  /** Time passes during an operation. Timers that become due fire when the clock is advanced next. */
  slip(milliseconds: number): void {
    this.#elapsed += milliseconds;
  }

  /** Advances time; timers that fall due fire before this returns. */
  advance(milliseconds: number): void {
    const target = this.#elapsed + milliseconds;
    for (let next = this.#nextDue(target); next !== undefined; next = this.#nextDue(target)) {
      this.#elapsed = Math.max(this.#elapsed, next.dueAt);
      this.#timers.delete(next);
      next.callback();
    }
    this.#elapsed = Math.max(this.#elapsed, target);
  }

  /** Time passes at once, as for a machine that slept. Timers that became due fire afterwards, late, once each. */
  jump(milliseconds: number): void {
    this.slip(milliseconds);
    this.advance(0);
  }

  /**
   * Like `advance`, for hours and days: timers that fire every second fire once a minute, late, as on a busy machine.
   */
  stride(milliseconds: number): void {
    const stepMs = 60_000;
    for (let left = milliseconds; left > 0; left -= stepMs) this.jump(Math.min(left, stepMs));
  }

  #nextDue(target: number): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueAt <= target && (earliest === undefined || timer.dueAt < earliest.dueAt)) earliest = timer;
    }
    return earliest;
  }

  /** From now on timers are real. Waiting timers become due at once unless they are cancelled first. */
  release(): void {
    this.#isReleased = true;
    for (const timer of this.#timers) {
      setTimeout(() => {
        if (this.#timers.delete(timer)) timer.callback();
      }, 0).unref();
    }
  }
}
