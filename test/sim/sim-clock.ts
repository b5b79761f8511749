/**
 * The simulation's clock: time advances when the simulation says so, or by a fixed cost per reading, and turns run when
 * the simulation pumps. The pending work of a dead process is dropped with its clock.
 */
import { limits } from "../../schemas/limits.ts";
import { ManualClock } from "../support/manual-clock.ts";
import type { TurnFault } from "./faults.ts";

/** Cost of a reading on a machine whose turns end after one command: longer than a turn's time budget. */
export const slowLookMs = limits.turn_budget_ms + 1;
/** Share of the days on which a machine is that slow from start to end. */
export const slowDays = 0.25;

export class SimClock extends ManualClock {
  /** Milliseconds that each reading of the monotonic clock takes: on a slow machine turns end by their time budget. */
  lookMs: number;
  /** The change that an operator or a time server made to the wall clock. */
  wallOffsetMs = 0;
  /** A temporary jump ahead of the wall clock. */
  #jump = { ms: 0, until: 0 };
  /** Deliberate bug: a jump looks like sleep of the machine, and is trusted. */
  trustsJumps = false;
  #soon: (() => void)[] = [];
  /** When the journal's disk has done something, on the monotonic clock. */
  readonly #diskDue = new Set<{ readonly at: number }>();

  constructor(startedAt: number, lookMs: number) {
    super(startedAt);
    this.lookMs = lookMs;
  }

  override now(): number {
    return this.steadyNow() + (this.#jumpLeftMs > 0 ? this.#jump.ms : 0);
  }

  /** The wall clock without the temporary jump. */
  steadyNow(): number {
    return super.now() + this.wallOffsetMs;
  }

  /** What other machines' clocks say. */
  trueNow(): number {
    return super.now();
  }

  meet(fault: TurnFault): void {
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
    return this.trustsJumps ? this.now() : super.uptimeMs();
  }

  /** The machine restarts: the error of its wall clock remains. */
  restarted(lookMs: number): SimClock {
    const next = new SimClock(this.trueNow(), lookMs);
    next.wallOffsetMs = this.wallOffsetMs;
    next.trustsJumps = this.trustsJumps;
    if (this.#jumpLeftMs > 0) next.#jumpAhead(this.#jump.ms, this.#jumpLeftMs);
    return next;
  }

  override monotonic(): number {
    this.slip(this.lookMs);
    return super.monotonic();
  }

  /** As `after`, for the journal's disk, whose work may be waited for. */
  afterDisk(milliseconds: number, callback: () => void): void {
    const due = { at: super.monotonic() + milliseconds };
    this.#diskDue.add(due);
    this.after(milliseconds, () => {
      this.#diskDue.delete(due);
      callback();
    });
  }

  /** How long the journal's disk takes until it has done the next thing; null if it has nothing to do. */
  get diskDueInMs(): number | null {
    if (this.#diskDue.size === 0) return null;
    const next = Math.min(...[...this.#diskDue].map(({ at }) => at));
    return Math.max(0, next - super.monotonic());
  }

  override soon(callback: () => void): void {
    this.#soon.push(callback);
  }

  get hasWork(): boolean {
    return this.#soon.length > 0;
  }

  /** One pass of the event loop. */
  pass(): void {
    const due = this.#soon;
    this.#soon = [];
    for (const callback of due) callback();
  }
}
