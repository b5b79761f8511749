/**
 * Answers and events that clients have not taken yet, in bytes over the whole process and by person or address (S3, E3). When the sum
 * is full, the connection that has held its bytes longest is closed to make room, once it had its time: a slow reader never holds
 * the memory that others need.
 */
import { clientNetwork } from "./client-network.ts";

export interface UnsentBytesOptions {
  readonly bytesMax: number;
  /** Of one person or address, beyond a first answer of any size. */
  readonly shareBytesMax: number;
  /** A holder is not closed before it had this long. */
  readonly keptMsMin: number;
  readonly monotonic: () => number;
}

/** The bytes that one connection has not taken yet. */
export interface Holding {
  /** @returns false when there is no room for more; the size stays as it was then */
  resize(bytes: number): boolean;
  /** May be called again. */
  release(): void;
}

interface Held {
  readonly who: string;
  readonly since: number;
  readonly evict: () => void;
  bytes: number;
}

export class UnsentBytes {
  readonly #options: UnsentBytesOptions;
  /** Oldest first. */
  readonly #held = new Set<Held>();
  readonly #shares = new Map<string, number>();
  #sum = 0;

  constructor(options: UnsentBytesOptions) {
    this.#options = options;
  }

  get sum(): number {
    return this.#sum;
  }

  /**
   * Whether something large may be built for them now. What it takes is known only when it is there, and somebody who leaves half of
   * a share unread would mostly be refused then.
   */
  hasRoomFor(reader: string): boolean {
    const who = clientNetwork(reader);
    const { bytesMax, shareBytesMax } = this.#options;
    return (
      (this.#shares.get(who) ?? 0) <= shareBytesMax / 2 && (this.#sum < bytesMax || this.#evictable(null) !== null)
    );
  }

  /**
   * @param evict closes the connection; the bytes are released before it is called
   * @returns null when there is no room
   */
  hold(reader: string, bytes: number, evict: () => void): Holding | null {
    const who = clientNetwork(reader);
    return this.#makeRoom(who, bytes, 0, null) ? this.#add(who, bytes, evict) : null;
  }

  /** For a small answer, which is sent in any case: it makes room where it can. */
  holdSmall(reader: string, bytes: number, evict: () => void): Holding {
    const who = clientNetwork(reader);
    this.#makeRoom(who, bytes, 0, null);
    return this.#add(who, bytes, evict);
  }

  #add(who: string, bytes: number, evict: () => void): Holding {
    const held: Held = { who, bytes: 0, since: this.#options.monotonic(), evict };
    this.#held.add(held);
    this.#change(held, bytes);
    return {
      resize: (size) => {
        if (!this.#held.has(held)) return false;
        if (size > held.bytes && !this.#makeRoom(who, size - held.bytes, held.bytes, held)) return false;
        this.#change(held, size);
        return true;
      },
      release: () => this.#remove(held),
    };
  }

  #change(held: Held, bytes: number): void {
    const change = bytes - held.bytes;
    held.bytes = bytes;
    this.#sum += change;
    const share = (this.#shares.get(held.who) ?? 0) + change;
    if (share > 0) this.#shares.set(held.who, share);
    else this.#shares.delete(held.who);
  }

  #remove(held: Held): void {
    if (!this.#held.delete(held)) return;
    this.#change(held, 0);
  }

  /** @param own what the asking connection holds already: the first answer of a person may be larger than a share */
  #makeRoom(who: string, more: number, own: number, asking: Held | null): boolean {
    const { bytesMax, shareBytesMax } = this.#options;
    const others = (this.#shares.get(who) ?? 0) - own;
    if (others > 0 && others + own + more > shareBytesMax) return false;
    if (own + more > bytesMax) return false;
    while (this.#sum + more > bytesMax) {
      const oldest = this.#evictable(asking);
      if (oldest === null) return false;
      this.#remove(oldest);
      oldest.evict();
    }
    return true;
  }

  /** The one that has held its bytes longest, if it had its time. */
  #evictable(asking: Held | null): Held | null {
    for (const held of this.#held) {
      if (held === asking) continue;
      return this.#options.monotonic() - held.since < this.#options.keptMsMin ? null : held;
    }
    return null;
  }
}
