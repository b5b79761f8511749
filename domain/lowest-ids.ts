/** Keeps the lowest of many ids in any order, for work that proceeds in slices by ascending id. */
/** Without duplicates. It holds a small multiple of `count` ids, and trims them occasionally. */
export class LowestIds {
  readonly #count: number;
  #kept = new Set<number>();
  /** Ids from here on are not among the lowest. */
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
