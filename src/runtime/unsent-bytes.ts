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
export interface ReservedBytes {
  /** @returns false when there is no room for more; the size is unchanged then */
  resize(bytes: number): boolean;
  /** Idempotent. */
  release(): void;
}

interface Reservation {
  readonly who: string;
  readonly since: number;
  readonly evict: () => void;
  bytes: number;
}

export class UnsentBytes {
  readonly #options: UnsentBytesOptions;
  /** Oldest first. */
  readonly #reservations = new Set<Reservation>();
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
  reserve(reader: string, bytes: number, evict: () => void): ReservedBytes | null {
    const who = clientNetwork(reader);
    return this.#makeRoom(who, bytes, 0, null) ? this.#add(who, bytes, evict) : null;
  }

  /** For a small answer, which is always sent: makes room if possible. */
  reserveSmall(reader: string, bytes: number, evict: () => void): ReservedBytes {
    const who = clientNetwork(reader);
    this.#makeRoom(who, bytes, 0, null);
    return this.#add(who, bytes, evict);
  }

  #add(who: string, bytes: number, evict: () => void): ReservedBytes {
    const reservation: Reservation = { who, bytes: 0, since: this.#options.monotonic(), evict };
    this.#reservations.add(reservation);
    this.#change(reservation, bytes);
    return {
      resize: (size) => {
        if (!this.#reservations.has(reservation)) return false;
        if (size > reservation.bytes && !this.#makeRoom(who, size - reservation.bytes, reservation.bytes, reservation))
          return false;
        this.#change(reservation, size);
        return true;
      },
      release: () => this.#remove(reservation),
    };
  }

  #change(reservation: Reservation, bytes: number): void {
    const change = bytes - reservation.bytes;
    reservation.bytes = bytes;
    this.#sum += change;
    const share = (this.#shares.get(reservation.who) ?? 0) + change;
    if (share > 0) this.#shares.set(reservation.who, share);
    else this.#shares.delete(reservation.who);
  }

  #remove(reservation: Reservation): void {
    if (!this.#reservations.delete(reservation)) return;
    this.#change(reservation, 0);
  }

  /** @param own bytes that the requesting connection already holds: a reader's first answer may exceed a share */
  #makeRoom(who: string, more: number, own: number, asking: Reservation | null): boolean {
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
  #evictable(asking: Reservation | null): Reservation | null {
    for (const reservation of this.#reservations) {
      if (reservation === asking) continue;
      return this.#options.monotonic() - reservation.since < this.#options.keptMsMin ? null : reservation;
    }
    return null;
  }
}
