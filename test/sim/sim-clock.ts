/**
 * The simulation's clock: time moves when the simulation says so, or by what each look at it costs, and turns run when it pumps.
 * What a dead process still had to do goes with its clock.
 */
import { limits } from "../../schemas/limits.ts";
import { ManualClock } from "../support/manual-clock.ts";

/** What a look takes where each turn ends after one command: longer than a turn may last. */
export const slowLookMs = limits.turn_budget_ms + 1;
/** Of all days, those on which a machine is as slow as that from morning to night. */
export const slowDays = 0.25;

export class SimClock extends ManualClock {
  /** Milliseconds that a look at the monotonic clock takes: a slow machine, whose turns end by their budget. */
  lookMs: number;
  /** What an operator or a time server did to the wall clock. */
  wallOffsetMs = 0;
  #soon: (() => void)[] = [];

  constructor(startedAt: number, lookMs: number) {
    super(startedAt);
    this.lookMs = lookMs;
  }

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
