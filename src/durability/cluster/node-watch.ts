/** Keeps the list of the nodes that are there, by the leases that they send (leases.ts). */
import type { StoredMsg } from "@nats-io/jetstream";
import { limits } from "../../../schemas/limits.ts";
import type { Nats } from "./connection.ts";
import { type LeaseClock, type LeaseMessage, leaseStream } from "./leases.ts";
import { requested } from "./request.ts";

export interface LiveNode {
  readonly node: string;
  readonly instance: string;
  readonly address: string;
  readonly isReady: boolean;
  /** When it was heard first. */
  readonly since: number;
}

interface HeardNode extends LiveNode {
  isReady: boolean;
  address: string;
  firstSequence: number | null;
  /** When it was heard last. Its message in the stream shows only that it was there once. */
  heardAt: number;
  /** From then on it counts as gone. */
  silentFrom: number;
}

export class NodeWatch {
  readonly #clock: LeaseClock;
  readonly #subscription: { unsubscribe(): void };
  readonly #heard = new Map<string, HeardNode>();
  /** Nothing is known of an instance that was not heard before then. */
  readonly #trustedFrom: number;
  readonly #onNews: () => void;

  private constructor(nats: Nats, clock: LeaseClock, onNews: () => void) {
    this.#clock = clock;
    this.#onNews = onNews;
    this.#trustedFrom = clock.monotonic() + limits.cluster_takeover_ms;
    this.#subscription = nats.connection.subscribe(`${leaseStream}.*`, {
      callback: (error, message) => {
        if (error === null) this.#take(message.json<LeaseMessage>());
      },
    });
  }

  /** @param onNews a node came or went in order */
  static async open(nats: Nats, clock: LeaseClock, onNews: () => void): Promise<NodeWatch> {
    const watch = new NodeWatch(nats, clock, onNews);
    // One that opens an organization just now may be silent for long: its last lease says for how long.
    for (let seq = 1; ; ) {
      const query = { seq, next_by_subj: `${leaseStream}.*` };
      const found = await requested<StoredMsg | null>(nats, () => nats.manager.streams.getMessage(leaseStream, query));
      if (found === null) return watch;
      watch.#take(found.json<LeaseMessage>(), false);
      seq = found.seq + 1;
    }
  }

  /** In the order of their names. */
  get live(): readonly LiveNode[] {
    const now = this.#clock.monotonic();
    return [...this.#heard.values()]
      .filter(({ silentFrom }) => silentFrom > now)
      .toSorted((a, b) => (a.node < b.node ? -1 : 1));
  }

  /** @returns null if it is gone */
  find(instance: string): LiveNode | null {
    const known = this.#heard.get(instance);
    return known !== undefined && known.silentFrom > this.#clock.monotonic() ? known : null;
  }

  /** Whether its lease has run out for sure. */
  isGone(instance: string): boolean {
    const silentFrom = this.#heard.get(instance)?.silentFrom ?? this.#trustedFrom;
    return this.#clock.monotonic() >= silentFrom;
  }

  /** Every node that was there before has been heard by now. */
  get isStable(): boolean {
    return this.#clock.monotonic() >= this.#trustedFrom;
  }

  /**
   * Whether another process with this name seems to be there that was first, by the order of the stream, so that one of
   * two continues. Its leases may arrive late: it may have ended.
   */
  isTaken(name: string, ownSequence: number | null): boolean {
    const now = this.#clock.monotonic();
    return [...this.#heard.values()].some(
      ({ node, firstSequence, heardAt, silentFrom }) =>
        node === name &&
        firstSequence !== null &&
        ownSequence !== null &&
        firstSequence < ownSequence &&
        heardAt > now - limits.cluster_lease_ms &&
        silentFrom > now,
    );
  }

  /** How long until the next node may be gone, if it is not heard again. */
  get nextInMs(): number {
    const now = this.#clock.monotonic();
    let next = this.#trustedFrom > now ? this.#trustedFrom : Number.POSITIVE_INFINITY;
    for (const { silentFrom } of this.#heard.values()) if (silentFrom > now) next = Math.min(next, silentFrom);
    return next - now;
  }

  close(): void {
    this.#subscription.unsubscribe();
  }

  #take(message: LeaseMessage, isHeardNow = true): void {
    const { node, instance, address, isReady, firstSequence, extraMs, isHeld, isEnd } = message;
    const now = this.#clock.monotonic();
    const heardAt = isHeardNow ? now : Number.NEGATIVE_INFINITY;
    const known = this.#heard.get(instance);
    const silentFrom = isEnd ? now : now + limits.cluster_takeover_ms + extraMs;
    if (known === undefined) {
      this.#forgetGone(now);
      const times = { since: now, heardAt, silentFrom };
      this.#heard.set(instance, { node, instance, address, isReady, firstSequence, ...times });
    } else {
      known.isReady = isReady;
      known.firstSequence = firstSequence;
      known.heardAt = Math.max(known.heardAt, heardAt);
      if (isHeld || isEnd) known.silentFrom = silentFrom;
    }
    if (known?.isReady !== isReady || isEnd) this.#onNews();
  }

  /** One that is not known is gone. */
  #forgetGone(now: number): void {
    for (const [instance, { silentFrom }] of this.#heard) if (silentFrom <= now) this.#heard.delete(instance);
  }
}
