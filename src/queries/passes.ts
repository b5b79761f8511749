/**
 * Long reads take turns (S3). In one pass of the event loop all of them together look at no more than one pass may, whoever asks, so
 * that a hundred searches delay a post no longer than one search does. People are let in round robin: somebody with many requests
 * waits for others with one.
 */
import { RoundRobin } from "./round-robin.ts";

/** Of a pass: 1 is all that one may look at. */
export type Share = number;

export class Passes {
  /** What was used in this pass of the loop. */
  #used: Share = 0;
  #isResetDue = false;
  readonly #waiting = new RoundRobin();

  /** Resolves when there is room, in this pass of the loop if possible. Work until the next `leave` without awaiting. */
  enter(reader: string): Promise<void> | null {
    return this.#used < 1 && this.#waiting.isEmpty ? null : this.next(reader);
  }

  /** Resolves in a later pass of the loop. */
  next(reader: string): Promise<void> {
    this.#expectReset();
    return this.#waiting.wait(reader);
  }

  leave(share: Share): void {
    this.#used += share;
    this.#expectReset();
    if (this.#used < 1) this.#letIn();
  }

  #expectReset(): void {
    if (this.#isResetDue) return;
    this.#isResetDue = true;
    setImmediate(() => {
      this.#isResetDue = false;
      this.#used = 0;
      this.#letIn();
    });
  }

  #letIn(): void {
    if (this.#waiting.letIn() && !this.#waiting.isEmpty) this.#expectReset();
  }
}

/** All organizations share the loop. */
export const passes = new Passes();
