/**
 * Answers that take more than one pass to make. Their finished parts are in memory meanwhile, so one of them is made at a time (S3);
 * while it waits, an answer holds ids only.
 */
import { RoundRobin } from "./round-robin.ts";

export class LongAnswers {
  #isBusy = false;
  readonly #waiting = new RoundRobin();

  /** null: the answer may be made at once. Call `leave` when it is made. */
  enter(reader: string): Promise<void> | null {
    if (this.#isBusy) return this.#waiting.wait(reader);
    this.#isBusy = true;
    return null;
  }

  leave(): void {
    this.#isBusy = this.#waiting.letIn();
  }
}

/** All organizations share the memory. */
export const longAnswers = new LongAnswers();
