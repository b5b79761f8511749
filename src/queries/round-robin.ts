/** Readers that wait, let in round robin: somebody with many requests waits for others with one. */
export class RoundRobin {
  /** By reader, in the order in which they are let in. */
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

  /** @returns false when nobody waits */
  letIn(): boolean {
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
