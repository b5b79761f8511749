/**
 * Sockets that have not said yet whose they are. What such a client sends is in memory before it can be looked at, so there are few of
 * them at a time, over all and from one address (S3). One that takes long gives way to a newcomer.
 */
import { limits } from "../../schemas/limits.ts";
import { clientNetwork } from "../runtime/client-network.ts";
import type { Clock } from "../runtime/clock.ts";

export interface Stranger {
  /** Others wait: it had its time. */
  giveWay(): void;
}

export class Strangers {
  readonly #clock: Pick<Clock, "monotonic">;
  /** Oldest first. */
  readonly #all = new Map<Stranger, { readonly since: number; readonly network: string }>();
  readonly #byNetwork = new Map<string, Set<Stranger>>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** @returns false when there is no room for one more from there */
  knock(address: string): boolean {
    const alike = this.#byNetwork.get(clientNetwork(address));
    if ((alike?.size ?? 0) >= limits.sockets_unauthenticated_per_address_max && !this.#dismiss(alike)) return false;
    return this.#all.size < limits.sockets_unauthenticated_max || this.#dismiss(this.#all.keys());
  }

  add(stranger: Stranger, address: string): void {
    const network = clientNetwork(address);
    this.#all.set(stranger, { since: this.#clock.monotonic(), network });
    const alike = this.#byNetwork.get(network);
    if (alike === undefined) this.#byNetwork.set(network, new Set([stranger]));
    else alike.add(stranger);
  }

  /** It has said whose it is, or is gone. */
  remove(stranger: Stranger): void {
    const known = this.#all.get(stranger);
    if (known === undefined) return;
    this.#all.delete(stranger);
    const alike = this.#byNetwork.get(known.network);
    alike?.delete(stranger);
    if (alike?.size === 0) this.#byNetwork.delete(known.network);
  }

  /** @param strangers oldest first @returns false when even the oldest has still time */
  #dismiss(strangers: Iterable<Stranger> | undefined): boolean {
    for (const oldest of strangers ?? []) {
      const since = this.#all.get(oldest)?.since ?? 0;
      if (this.#clock.monotonic() - since < limits.socket_unauthenticated_kept_ms_min) return false;
      this.remove(oldest);
      oldest.giveWay();
      return true;
    }
    return false;
  }
}
