/** A queue of waiting readers, admitted round robin: a user with many requests waits for users with one. */
export class RoundRobin {
  /** By reader, in the order of admission. */
  readonly #waiting = new Map<string, (() => void)[]>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  wait(reader: string): Promise<void> {
    return new Promise((resolve) => {
      const own = this.#waiting.get(reader);
      if (own === undefined) this.#waiting.set(reader, [resolve]);
      else own.push(resolve);
    });
  }

  /** @returns false if nobody is waiting */
  admitNext(): boolean {
    const [first] = this.#waiting;
    if (first === undefined) return false;
    const [reader, own] = first;
    const resolve = own.shift();
    this.#waiting.delete(reader);
    if (own.length > 0) this.#waiting.set(reader, own);
    resolve?.();
    return true;
  }
}
