/** Bots by owner, so that finding a user's few bots needs no scan of all users. */

import { type Delta, type Projection, sortedEntries, sortedNumbers } from "./projection.ts";

const none: ReadonlySet<number> = new Set();

export class BotsProjection implements Projection {
  readonly tables = ["users"] as const;
  readonly #ownerOf = new Map<number, number>();
  readonly #byOwner = new Map<number, Set<number>>();

  apply(delta: Delta<"users">): void {
    const id = delta.key;
    const owner = delta.row?.botOwnerId ?? null;
    const former = this.#ownerOf.get(id) ?? null;
    if (owner === former) return;
    if (former !== null) this.#leave(id, former);
    if (owner !== null) this.#join(id, owner);
  }

  #join(id: number, owner: number): void {
    this.#ownerOf.set(id, owner);
    const bots = this.#byOwner.get(owner);
    if (bots === undefined) this.#byOwner.set(owner, new Set([id]));
    else bots.add(id);
  }

  #leave(id: number, owner: number): void {
    this.#ownerOf.delete(id);
    const bots = this.#byOwner.get(owner);
    bots?.delete(id);
    if (bots?.size === 0) this.#byOwner.delete(owner);
  }

  /** Active and deactivated bots. */
  ofOwner(ownerId: number): ReadonlySet<number> {
    return this.#byOwner.get(ownerId) ?? none;
  }

  /** The bots of all owners. */
  all(): Iterable<number> {
    return this.#ownerOf.keys();
  }

  snapshot(): unknown {
    return sortedEntries(this.#byOwner).map(([owner, bots]) => [owner, sortedNumbers(bots)]);
  }
}
