/**
 * The simulation's clock: time moves when the simulation says so, or by what each look at it costs, and turns run when it pumps.
 * What a dead process still had to do goes with its clock.
 */
import { limits } from "../../schemas/limits.ts";
import { ManualClock } from "../support/manual-clock.ts";
import type { StoreFault } from "./faulty-store.ts";

/** What a look takes where each turn ends after one command: longer than a turn may last. */
export const slowLookMs = limits.turn_budget_ms + 1;
/** Of all days, those on which a machine is as slow as that from morning to night. */
export const slowDays = 0.25;

export class SimClock extends ManualClock {
  /** Milliseconds that a look at the monotonic clock takes: a slow machine, whose turns end by their budget. */
  lookMs: number;
  /** What an operator or a time server did to the wall clock. */
  wallOffsetMs = 0;
  /** It is ahead of itself for a moment. */
  #jump = { ms: 0, until: 0 };
  /** Broken on purpose: a jump looks like the sleep of the machine, and is believed. */
  believesJumps = false;
  #soon: (() => void)[] = [];

  constructor(startedAt: number, lookMs: number) {
    super(startedAt);
    this.lookMs = lookMs;
  }

  override now(): number {
    return this.steadyNow() + (this.#jumpLeftMs > 0 ? this.#jump.ms : 0);
  }

  /** Without the jump that will pass. */
  steadyNow(): number {
    return super.now() + this.wallOffsetMs;
  }

  /** What other machines' clocks say. */
  trueNow(): number {
    return super.now();
  }

  meet(fault: StoreFault): void {
    if (fault.kind === "slow flush") this.slip(fault.ms);
    if (fault.kind === "clock set back") this.wallOffsetMs = -fault.ms;
    if (fault.kind === "clock jumps ahead") this.#jumpAhead(fault.ms, fault.lastingMs);
  }

  #jumpAhead(ms: number, lastingMs: number): void {
    this.#jump = { ms, until: super.monotonic() + lastingMs };
  }

  get #jumpLeftMs(): number {
    return this.#jump.until - super.monotonic();
  }

  override uptimeMs(): number {
    return this.believesJumps ? this.now() : super.uptimeMs();
  }

  /** The machine starts again: what was wrong with its wall clock is still wrong. */
  restarted(lookMs: number): SimClock {
    const next = new SimClock(this.trueNow(), lookMs);
    next.wallOffsetMs = this.wallOffsetMs;
    next.believesJumps = this.believesJumps;
    if (this.#jumpLeftMs > 0) next.#jumpAhead(this.#jump.ms, this.#jumpLeftMs);
    return next;
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
