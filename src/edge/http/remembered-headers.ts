/**
 * What follows from headers that were verified: in memory only (S2), bounded in bytes for the process (S3). An entry
 * knows no realm: it counts only where the rows from which it follows are the realm's present ones (S1).
 */
import { LRUCache } from "lru-cache";
import { limits } from "../../../schemas/limits.ts";

export class RememberedHeaders<V extends object> {
  /** Least recently used first out. Each entry has a size above zero, so the bound on bytes also bounds their number. */
  readonly #known: LRUCache<string, V>;

  constructor(bytesMax: number) {
    this.#known = new LRUCache<string, V>({
      maxSize: bytesMax,
      sizeCalculation: (_value, header) => header.length + limits.credentials_remembered_overhead_bytes,
    });
  }

  get(header: string): V | undefined {
    return this.#known.get(header);
  }

  set(header: string, value: V): void {
    this.#known.set(header, value);
  }

  delete(header: string): void {
    this.#known.delete(header);
  }

  get count(): number {
    return this.#known.size;
  }
}
