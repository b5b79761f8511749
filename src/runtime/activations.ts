/**
 * Live actors as bounded LRU maps of plain snapshots (passivation). An evicted durable actor is restored from its row.
 * Volatile actors have their own map and lose their state when they are evicted.
 */

import type { LRUCache } from "lru-cache";
import type { ActorKind } from "../../actors/kinds.ts";
import type { PlainSnapshot } from "../../actors/protocol/drive.ts";
import { limits } from "../../schemas/limits.ts";
import { boundedMap } from "./bounded-map.ts";

/** An actor after a command: its key before and after (a conversation gets and loses its id), and its new snapshot. */
export interface Activated {
  readonly key: string | null;
  readonly keyAfter: string | null;
  readonly snapshot: PlainSnapshot;
}

export class Activations {
  readonly #durable = boundedMap<string, PlainSnapshot>(limits.activations_max);
  readonly #volatile = boundedMap<string, PlainSnapshot>(limits.volatile_activations_max);

  /** @param key null: the actor has no identity yet */
  get(kind: ActorKind, key: string | null): PlainSnapshot | undefined {
    return key === null ? undefined : this.#of(kind).get(key);
  }

  set(kind: ActorKind, { key, keyAfter, snapshot }: Activated): void {
    const snapshots = this.#of(kind);
    if (key !== null && key !== keyAfter) snapshots.delete(key);
    if (keyAfter !== null) snapshots.set(keyAfter, snapshot);
  }

  #of(kind: ActorKind): LRUCache<string, PlainSnapshot> {
    return kind.isVolatile ? this.#volatile : this.#durable;
  }
}
