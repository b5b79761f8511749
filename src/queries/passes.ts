/**
 * Schedules long reads (S3). In one pass of the event loop, all reads together do at most the work of one pass, so a
 * hundred searches delay a post no longer than one does. Users take turns (round robin): a user with many requests
 * waits for users with one.
 */
import { RoundRobin } from "./round-robin.ts";

/** Fraction of a pass; 1 is a whole pass. */
export type Share = number;

export class Passes {
  /** Used in this pass of the event loop. */
  #used: Share = 0;
  #isResetDue = false;
  readonly #waiting = new RoundRobin();

  /**
   * Resolves when there is room, in this pass if possible; null: at once. Work until the next `leave` without awaiting.
   */
  enter(reader: string): Promise<void> | null {
    return this.#used < 1 && this.#waiting.isEmpty ? null : this.next(reader);
  }

  /** Resolves in a later pass of the event loop. */
  next(reader: string): Promise<void> {
    this.#expectReset();
    return this.#waiting.wait(reader);
  }

  leave(share: Share): void {
    this.#used += share;
    this.#expectReset();
    if (this.#used < 1) this.#admitNext();
  }

  #expectReset(): void {
    if (this.#isResetDue) return;
    this.#isResetDue = true;
    setImmediate(() => {
      this.#isResetDue = false;
      this.#used = 0;
      this.#admitNext();
    });
  }

  #admitNext(): void {
    if (this.#waiting.admitNext() && !this.#waiting.isEmpty) this.#expectReset();
  }
}

/** All organizations share the event loop, so there is one instance. */
export const passes = new Passes();
