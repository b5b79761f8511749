/** Closers of everything that a start has opened, run in the opposite order when it fails or the server stops. */
export class Scope {
  readonly #closers: (() => unknown)[] = [];

  onClose(closer: () => unknown): void {
    this.#closers.push(closer);
  }

  /** Closes everything once, one after the other. */
  async close(): Promise<void> {
    for (let closer = this.#closers.pop(); closer !== undefined; closer = this.#closers.pop()) await closer();
  }
}
