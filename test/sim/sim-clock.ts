/**
 * The simulation's clock: time moves when the simulation says so, or by what each look at it costs, and turns run when it pumps.
 * What a dead process still had to do goes with its clock.
 */
import { ManualClock } from "../support/manual-clock.ts";

export class SimClock extends ManualClock {
  /** Milliseconds that a look at the monotonic clock takes: a slow machine, whose turns end by their budget. */
  lookMs = 0;
  /** What an operator or a time server did to the wall clock. */
  wallOffsetMs = 0;
  #soon: (() => void)[] = [];

  override now(): number {
    return super.now() + this.wallOffsetMs;
  }

  override monotonic(): number {
    this.slip(this.lookMs);
    return super.monotonic();
  }

  override soon(callback: () => void): void {
    this.#soon.push(callback);
  }

  get hasWork(): boolean {
    return this.#soon.length > 0;
  }

  /** One pass of the loop. */
  pass(): void {
    const due = this.#soon;
    this.#soon = [];
    for (const callback of due) callback();
  }
}
