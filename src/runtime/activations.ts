/**
 * Live actors: bounded maps of plain snapshots, least recently used first out (passivation). What falls out comes back from
 * its row; volatile actors, which have a map of their own, have lapsed when they fall out.
 */

import { LRUCache } from "lru-cache";
import type { ActorKind, PlainSnapshot } from "../../actors/kinds.ts";
import { limits } from "../../schemas/limits.ts";
import { boundedMap } from "./bounded-map.ts";

/** An actor after a command: its name before and now (a conversation gets and loses its id), and what it became. */
export interface Activated {
  readonly key: string | null;
  readonly keyAfter: string | null;
  readonly snapshot: PlainSnapshot;
}

export class Activations {
  readonly #durable = new LRUCache<string, PlainSnapshot>({ max: limits.activations_max });
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
