/** Wakes those who wait for a change in the cluster. */
import type { LeaseClock } from "./leases.ts";

export class LogNotifications {
  readonly #clock: LeaseClock;
  #waiting: (() => void)[] = [];
  #arrivedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: LeaseClock) {
    this.#clock = clock;
  }

  /** How long ago the last change was. */
  get ageMs(): number {
    return this.#clock.monotonic() - this.#arrivedAt;
  }

  arrived(): void {
    this.#arrivedAt = this.#clock.monotonic();
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Resolves at the next change, or after some time. */
  once(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(milliseconds, resolve);
      this.#waiting.push(() => {
        cancel();
        resolve();
      });
    });
  }

  /** Resolves after some time, whatever changes. */
  paused(milliseconds: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(milliseconds, resolve));
  }
}
