/**
 * Counts the bytes of answers and events that clients have not read yet, for the process and per user or address (S3,
 * E3). When the total is full, the connection that has held its bytes longest is closed after a grace period, so that
 * slow readers never hold memory that others need.
 */
import { clientNetwork } from "./client-network.ts";

export interface UnsentBytesOptions {
  readonly bytesMax: number;
  /** Bytes of one user or address, in addition to a first answer of any size. */
  readonly shareBytesMax: number;
  /** A connection is not closed before it has held bytes this long. */
  readonly keptMsMin: number;
  readonly monotonic: () => number;
}

/** The bytes that one connection has not read yet. */
export interface Holding {
  /** @returns false when there is no room for more; the size is unchanged then */
  resize(bytes: number): boolean;
  /** Idempotent. */
  release(): void;
}

interface UnsentHolder {
  readonly who: string;
  readonly since: number;
  readonly evict: () => void;
  bytes: number;
}

export class UnsentBytes {
  readonly #options: UnsentBytesOptions;
  /** Oldest first. */
  readonly #holders = new Set<UnsentHolder>();
  readonly #shares = new Map<string, number>();
  #sum = 0;

  constructor(options: UnsentBytesOptions) {
    this.#options = options;
  }

  get sum(): number {
    return this.#sum;
  }

  /**
   * Whether a large answer may be built for this reader now. Its size is known only when it exists, and a reader who
   * already leaves half of a share unread would usually be rejected then.
   */
  hasRoomFor(reader: string): boolean {
    const who = clientNetwork(reader);
    const { bytesMax, shareBytesMax } = this.#options;
    return (
      (this.#shares.get(who) ?? 0) <= shareBytesMax / 2 && (this.#sum < bytesMax || this.#evictable(null) !== null)
    );
  }

  /**
   * @param evict closes the connection; its bytes are released before the call
   * @returns null when there is no room
   */
  hold(reader: string, bytes: number, evict: () => void): Holding | null {
    const who = clientNetwork(reader);
    return this.#makeRoom(who, bytes, 0, null) ? this.#add(who, bytes, evict) : null;
  }

  /** For a small answer, which is always sent: makes room if possible. */
  holdSmall(reader: string, bytes: number, evict: () => void): Holding {
    const who = clientNetwork(reader);
    this.#makeRoom(who, bytes, 0, null);
    return this.#add(who, bytes, evict);
  }

  #add(who: string, bytes: number, evict: () => void): Holding {
    const holder: UnsentHolder = { who, bytes: 0, since: this.#options.monotonic(), evict };
    this.#holders.add(holder);
    this.#change(holder, bytes);
    return {
      resize: (size) => {
        if (!this.#holders.has(holder)) return false;
        if (size > holder.bytes && !this.#makeRoom(who, size - holder.bytes, holder.bytes, holder)) return false;
        this.#change(holder, size);
        return true;
      },
      release: () => this.#remove(holder),
    };
  }

  #change(holder: UnsentHolder, bytes: number): void {
    const change = bytes - holder.bytes;
    holder.bytes = bytes;
    this.#sum += change;
    const share = (this.#shares.get(holder.who) ?? 0) + change;
    if (share > 0) this.#shares.set(holder.who, share);
    else this.#shares.delete(holder.who);
  }

  #remove(holder: UnsentHolder): void {
    if (!this.#holders.delete(holder)) return;
    this.#change(holder, 0);
  }

  /** @param own bytes that the requesting connection already holds: a reader's first answer may exceed a share */
  #makeRoom(who: string, more: number, own: number, asking: UnsentHolder | null): boolean {
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

  /** The connection that has held its bytes longest, if its grace period is over. */
  #evictable(asking: UnsentHolder | null): UnsentHolder | null {
    for (const holder of this.#holders) {
      if (holder === asking) continue;
      return this.#options.monotonic() - holder.since < this.#options.keptMsMin ? null : holder;
    }
    return null;
  }
}
