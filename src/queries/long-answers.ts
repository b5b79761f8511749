/**
 * Answers that take more than one pass to build. Their finished parts are in memory meanwhile, so only one is built at
 * a time (S3); a waiting answer holds only ids.
 */
import { RoundRobin } from "./round-robin.ts";

export class LongAnswers {
  #isBusy = false;
  readonly #waiting = new RoundRobin();

  /** null: the answer may be built at once. Call `leave` when it is finished. */
  enter(reader: string): Promise<void> | null {
    if (this.#isBusy) return this.#waiting.wait(reader);
    this.#isBusy = true;
    return null;
  }

  leave(): void {
    this.#isBusy = this.#waiting.admitNext();
  }
}

/** All organizations share the memory, so there is one instance. */
export const longAnswers = new LongAnswers();
