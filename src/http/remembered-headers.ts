/** What follows from headers that were verified, by header and realm (S1): in memory only (S2), bounded in bytes (S3). */
import { LRUCache } from "lru-cache";
import { limits } from "../../schemas/limits.ts";
import type { View } from "../domain/view.ts";

export class RememberedHeaders<V extends object> {
  readonly #bytesMax: number;
  /** Per realm, least recently used first out. */
  readonly #byView = new WeakMap<View, LRUCache<string, V>>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(view: View, header: string): V | undefined {
    return this.#byView.get(view)?.get(header);
  }

  set(view: View, header: string, value: V): void {
    let known = this.#byView.get(view);
    if (known === undefined) {
      // Each entry has a size above zero, so the bound on bytes also bounds their number.
      known = new LRUCache<string, V>({
        maxSize: this.#bytesMax,
        sizeCalculation: (_value, name) => name.length + limits.credentials_remembered_overhead_bytes,
      });
      this.#byView.set(view, known);
    }
    known.set(header, value);
  }

  delete(view: View, header: string): void {
    this.#byView.get(view)?.delete(header);
  }

  /** Number of headers that are remembered for a realm. */
  count(view: View): number {
    return this.#byView.get(view)?.size ?? 0;
  }
}
