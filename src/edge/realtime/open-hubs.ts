/** The hubs of the open organizations, and what remains of those that were closed because they were idle (D254). */

import type { Realm } from "../../runtime/realm.ts";
import { Hub, type HubOptions, type ParkedHub } from "./hub.ts";

interface Parked {
  readonly hub: ParkedHub;
  readonly fileBytes: number;
}

export class OpenHubs {
  readonly #hubs = new Map<Realm, Hub>();
  /** By id of the organization. */
  readonly #parked = new Map<number, Parked>();

  get(realm: Realm): Hub {
    return this.#hubs.get(realm) as Hub;
  }

  all(): Iterable<Hub> {
    return this.#hubs.values();
  }

  /** @returns the hub, and whether the realm is open for the first time in this process */
  open(
    realm: Realm,
    id: number,
    options: Omit<HubOptions, "parked">,
  ): { readonly hub: Hub; readonly isFirst: boolean } {
    const parked = this.#parked.get(id);
    this.#parked.delete(id);
    const hub = new Hub(realm, { ...options, parked: parked?.hub ?? null });
    this.#hubs.set(realm, hub);
    return { hub, isFirst: parked === undefined };
  }

  park(realm: Realm, id: number): void {
    this.#parked.set(id, { hub: this.get(realm).park(), fileBytes: realm.files.bytes });
    this.#hubs.delete(realm);
  }

  /** The organization was erased. */
  forget(id: number): void {
    this.#parked.delete(id);
  }

  /** Another node serves the organization from now on. */
  leave(realm: Realm): void {
    this.#hubs.delete(realm);
  }

  /** Size of the files of all organizations that were opened. */
  get fileBytes(): number {
    let sum = 0;
    for (const { files } of this.#hubs.keys()) sum += files.bytes;
    for (const { fileBytes } of this.#parked.values()) sum += fileBytes;
    return sum;
  }
}
