/** Who uses an open realm: requests, sockets and calls that are not finished. An unused realm is closed after a while. */
import type { Clock } from "./clock.ts";

export class RealmUse {
  readonly #clock: Pick<Clock, "monotonic">;
  #users = 0;
  #lastUsedAt: number;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#lastUsedAt = clock.monotonic();
  }

  /** Every call is followed by one of `end`. */
  begin(): void {
    this.#users++;
  }

  end(): void {
    this.#users--;
    this.#lastUsedAt = this.#clock.monotonic();
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

  /** How long nobody has used the realm. */
  get unusedMs(): number {
    return this.#users > 0 ? 0 : this.#clock.monotonic() - this.#lastUsedAt;
  }
}
