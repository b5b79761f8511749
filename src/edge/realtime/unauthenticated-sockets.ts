/**
 * Sockets that have not authenticated yet. Their input is in memory before it can be checked, so their number is
 * bounded in total and per address (S3). A socket that takes long is closed to make room for a new one.
 */
import { limits } from "../../../schemas/limits.ts";
import { clientNetwork } from "../../runtime/client-network.ts";
import type { Clock } from "../../runtime/clock.ts";

export interface UnauthenticatedSocket {
  /** Closes the socket, because others are waiting and its time is over. */
  closeForOthers(): void;
}

export class UnauthenticatedSockets {
  readonly #clock: Pick<Clock, "monotonic">;
  /** Oldest first. */
  readonly #all = new Map<UnauthenticatedSocket, { readonly since: number; readonly network: string }>();
  readonly #byNetwork = new Map<string, Set<UnauthenticatedSocket>>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** @returns false if there is no room for another socket from this address */
  makeRoomFor(address: string): boolean {
    const alike = this.#byNetwork.get(clientNetwork(address));
    if ((alike?.size ?? 0) >= limits.sockets_unauthenticated_per_address_max && !this.#dismiss(alike)) return false;
    return this.#all.size < limits.sockets_unauthenticated_max || this.#dismiss(this.#all.keys());
  }

  add(socket: UnauthenticatedSocket, address: string): void {
    const network = clientNetwork(address);
    this.#all.set(socket, { since: this.#clock.monotonic(), network });
    const alike = this.#byNetwork.get(network);
    if (alike === undefined) this.#byNetwork.set(network, new Set([socket]));
    else alike.add(socket);
  }

  /** The socket authenticated or was closed. */
  remove(socket: UnauthenticatedSocket): void {
    const known = this.#all.get(socket);
    if (known === undefined) return;
    this.#all.delete(socket);
    const alike = this.#byNetwork.get(known.network);
    alike?.delete(socket);
    if (alike?.size === 0) this.#byNetwork.delete(known.network);
  }

  /**
   * @param unauthenticated oldest first
   * @returns false if even the oldest still has time left
   */
  #dismiss(unauthenticated: Iterable<UnauthenticatedSocket> | undefined): boolean {
    for (const oldest of unauthenticated ?? []) {
      const since = this.#all.get(oldest)?.since ?? 0;
      if (this.#clock.monotonic() - since < limits.socket_unauthenticated_kept_ms_min) return false;
      this.remove(oldest);
      oldest.closeForOthers();
      return true;
    }
    return false;
  }
}
