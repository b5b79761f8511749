/**
 * Flushes of the journal thread. On a disk with slow flushes they overlap, so a record waits for a flush of its own and
 * not for the end of another. A flush covers what was written before it began, so they may end in any order. After one
 * has failed, nothing is announced (M5).
 */
import { commonLimits as limits } from "../../../schemas/limits/common.ts";

interface Flush {
  readonly number: number;
  readonly startedAt: number;
  readonly announce: () => void;
}

export class Flushes {
  /** Flushes everything that was written, and returns when that is done. */
  readonly #flushAll: () => void;
  readonly #now: () => number;
  /** Oldest first. */
  #running: readonly Flush[] = [];
  #begun = 0;
  /** Number of the newest flush that has ended. */
  #covered = 0;
  /** Time that the last flush took. */
  #flushMs = 0;
  #failure: { readonly error: unknown } | null = null;
  #wake: () => void = () => undefined;

  /** @param now milliseconds of a clock that only advances */
  constructor(flushAll: () => void, now: () => number = () => performance.now()) {
    this.#flushAll = flushAll;
    this.#now = now;
  }

  /** Whether some of what was written is not durable yet. */
  get isWaiting(): boolean {
    return this.#covered < this.#begun;
  }

  /** Whether a flush should begin beside those that run. */
  get mayBegin(): boolean {
    return this.#flushMs >= limits.journal_slow_flush_ms && this.#running.length < limits.journal_flushes_max;
  }

  /** Runs a write with its flush, without others beside it. */
  measure(write: () => void): void {
    const startedAt = this.#now();
    write();
    this.#flushMs = this.#now() - startedAt;
  }

  /**
   * @param flushed resolves when it ends
   * @param announce tells that what was written before it began is durable
   */
  begin(flushed: Promise<void>, announce: () => void): void {
    const flush = { number: ++this.#begun, startedAt: this.#now(), announce };
    this.#running = [...this.#running, flush];
    flushed.then(
      () => this.#end(flush),
      (error: unknown) => {
        this.fail(error);
        this.#wake();
      },
    );
  }

  /** The journal is lost: flushes that still end announce nothing (M5). */
  fail(error: unknown): void {
    this.#failure ??= { error };
  }

  /**
   * Waits until a flush has ended, or something has arrived.
   * @param arrival null if there is something to write already
   * @throws what a flush has thrown
   */
  async next(arrival: Promise<void> | null): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(1, this.#dueInMs));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      void arrival?.then(() => this.#wake());
    });
    if (this.#failure !== null) throw this.#failure.error;
    if (this.isWaiting && this.#dueInMs <= 0) this.#flushOverdue();
  }

  /** Until the oldest flush that something waits for is overdue. */
  get #dueInMs(): number {
    const oldest = this.#running.find(({ number }) => number > this.#covered);
    if (oldest === undefined) return limits.journal_overdue_ms_min;
    const allowedMs = Math.max(limits.journal_overdue_ms_min, 2 * this.#flushMs);
    return oldest.startedAt + allowedMs - this.#now();
  }

  /** The pool is busy with something else, such as a look-up of a name that does not answer: this thread flushes. */
  #flushOverdue(): void {
    const newest = this.#running.at(-1);
    this.measure(this.#flushAll);
    this.#covered = this.#begun;
    newest?.announce();
  }

  #end(flush: Flush): void {
    this.#running = this.#running.filter((running) => running !== flush);
    if (this.#failure === null && flush.number > this.#covered) {
      this.#covered = flush.number;
      this.#flushMs = this.#now() - flush.startedAt;
      flush.announce();
    }
    this.#wake();
  }
}
