/** Lets so many through at a time, first come, first served. */
export class Turnstile {
  readonly #max: number;
  #inside = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** Resolves when there is room; `leave` afterwards, whatever happens. */
  async enter(): Promise<void> {
    if (this.#inside < this.#max) this.#inside++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The place goes to who waits longest. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#inside--;
    else next();
  }
}
