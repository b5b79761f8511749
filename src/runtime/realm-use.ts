/** Who uses an open realm: requests, sockets and calls that are not finished. An unused realm is closed after a while. */
import type { Clock } from "./clock.ts";

export class RealmUse {
  readonly #clock: Pick<Clock, "monotonic">;
  #users = 0;
  /**
   * null: used since it was last asked for. Each request begins and ends a use, so the clock is read when somebody
   * asks, which is rare.
   */
  #unusedSince: number | null = null;
  #onUnused: (() => void)[] = [];

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Every call is followed by one of `end`. */
  begin(): void {
    this.#users++;
  }

  end(): void {
    this.#users--;
    this.#unusedSince = null;
    if (this.#users === 0 && this.#onUnused.length > 0) for (const wake of this.#onUnused.splice(0)) wake();
  }

  /** Resolves when nobody uses the realm. */
  onceUnused(): Promise<void> {
    return this.#users === 0 ? Promise.resolve() : new Promise((resolve) => this.#onUnused.push(resolve));
  }

  /** The realm stays open until this work is done, also if its client is gone. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.begin();
    try {
      return await work;
    } finally {
      this.end();
    }
  }

  get isUsed(): boolean {
    return this.#users > 0;
  }

  /** How long nobody has used the realm, counted from the first call after its last use. */
  unusedMs(): number {
    if (this.#users > 0) return 0;
    const now = this.#clock.monotonic();
    this.#unusedSince ??= now;
    return now - this.#unusedSince;
  }
}
