/** The lowest of many ids that come in any order, for work that goes on in slices by ascending id. */
/** Each once; little more than `count` are kept, and they are sorted now and then. */
export class LowestIds {
  readonly #count: number;
  #kept = new Set<number>();
  /** No id from here on is among the lowest. */
  #ceiling = Number.POSITIVE_INFINITY;

  constructor(count: number) {
    this.#count = count;
  }

  add(id: number): void {
    if (id >= this.#ceiling) return;
    this.#kept.add(id);
    if (this.#kept.size >= 4 * this.#count) this.#cut();
  }

  #cut(): void {
    const lowest = this.ascending();
    this.#kept = new Set(lowest);
    this.#ceiling = (lowest.at(-1) ?? this.#ceiling) + 1;
  }

  ascending(): number[] {
    if (this.#kept.size === 0) return [];
    return [...this.#kept].sort((a, b) => a - b).slice(0, this.#count);
  }
}
