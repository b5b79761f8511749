/** Bounds the bytes held in memory at a time, in total and per user or address (S3). */
import { clientNetwork } from "./client-network.ts";

export interface BytesTaken {
  /** @returns false when there is no room for more */
  add(bytes: number): boolean;
  /** Idempotent. */
  release(): void;
}

export class ByteBudget {
  readonly #bytesMax: number;
  readonly #shareBytesMax: number;
  readonly #shares = new Map<string, number>();
  #sum = 0;

  constructor(bytesMax: number, shareBytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#shareBytesMax = shareBytesMax;
  }

  get sum(): number {
    return this.#sum;
  }

  /** @param sender a user or an address */
  open(sender: string): BytesTaken {
    let taken = 0;
    // Set on the first `add`: most requests are small and never counted.
    let who = "";
    return {
      add: (bytes) => {
        if (taken === 0) who = clientNetwork(sender);
        const share = (this.#shares.get(who) ?? 0) + bytes;
        if (this.#sum + bytes > this.#bytesMax || share > this.#shareBytesMax) return false;
        this.#sum += bytes;
        this.#shares.set(who, share);
        taken += bytes;
        return true;
      },
      release: () => {
        if (taken === 0) return;
        const share = (this.#shares.get(who) ?? 0) - taken;
        this.#sum -= taken;
        taken = 0;
        if (share > 0) this.#shares.set(who, share);
        else this.#shares.delete(who);
      },
    };
  }
}
