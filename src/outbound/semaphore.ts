/** A semaphore: at most `max` holders at a time, first come, first served. */
export class Semaphore {
  readonly #max: number;
  #inside = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** Resolves when there is room; call `leave` afterwards in any case. */
  async enter(): Promise<void> {
    if (this.#inside < this.#max) this.#inside++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Passes the slot to the longest waiter. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#inside--;
    else next();
  }
}
