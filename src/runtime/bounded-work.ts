/**
 * Bounds work on the thread pool, which LMDB and others share (pitfalls 1.1): a number of jobs at a time, a number
 * waiting, and the rest rejected.
 */
export class BoundedWork {
  readonly #concurrentMax: number;
  readonly #waitingMax: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(concurrentMax: number, waitingMax: number) {
    this.#concurrentMax = concurrentMax;
    this.#waitingMax = waitingMax;
  }

  /** In order of arrival; null if too many are waiting. */
  async run<T>(work: () => Promise<T>): Promise<T | null> {
    if (this.#running < this.#concurrentMax) this.#running++;
    else if (this.#waiting.length >= this.#waitingMax) return null;
    // A finished job passes its slot on, so a newcomer cannot take it in between.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
