/** A clock whose wall clock jumps while durations continue, and whose machine sleeps and restarts. */
import { ManualClock } from "./manual-clock.ts";

export class JumpingClock extends ManualClock {
  /** How far the wall clock is ahead of the true time. */
  aheadMs = 0;
  override readonly bootId: string;
  #sleptMs = 0;

  constructor(startedAt: number, bootId = "first") {
    super(startedAt);
    this.bootId = bootId;
  }

  override now(): number {
    return super.now() + this.aheadMs + this.#sleptMs;
  }

  override uptimeMs(): number {
    return super.uptimeMs() + this.#sleptMs;
  }

  /** Time passes while the monotonic clock does not advance. */
  sleep(milliseconds: number): void {
    this.#sleptMs += milliseconds;
  }
}
