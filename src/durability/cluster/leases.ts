/**
 * The lease of a node: a message every 300 ms, which a majority of the NATS servers acknowledges. A node that owns
 * organizations stops 1.0 s after it sent the last one that was acknowledged; the others take over 1.2 s after they
 * received one. CLUSTER_LEASE_MS makes both longer, and messages say by how much. So at most one node answers reads;
 * that at most one writes is the work of claims, not of clocks.
 */
import { limits } from "../../../schemas/limits.ts";
import { ClusterSilent } from "./cluster-unusable.ts";
import type { Nats } from "./connection.ts";
import { requested } from "./request.ts";

export interface LeaseClock {
  monotonic(): number;
  /** @returns a function that cancels the timer */
  after(milliseconds: number, callback: () => void): () => void;
}

export interface LeaseMessage {
  readonly node: string;
  /** The process: a node that was started again is another one. */
  readonly instance: string;
  /** Where other nodes reach it. */
  readonly address: string;
  /** It has read every stream to its end. */
  readonly isReady: boolean;
  /** Number of the first message of this process that was acknowledged; null: none was yet. The lower one was there first. */
  readonly firstSequence: number | null;
  /**
   * How much longer than usual it is valid: a node that opens an organization may not get round to renew it, and one
   * may be on a machine that stalls at times.
   */
  readonly extraMs: number;
  /** Whether the sender holds a lease that was acknowledged: one that hears no acknowledgements is as good as gone. */
  readonly isHeld: boolean;
  /** The node stops in order: somebody else may take over at once. */
  readonly isEnd: boolean;
}

export const leaseStream = "leases";

/** One message for each node, in memory: a lease is worthless after a restart. */
export async function openLeases(nats: Nats): Promise<void> {
  await requested(nats, () =>
    nats.manager.streams.add({
      name: leaseStream,
      subjects: [`${leaseStream}.*`],
      storage: "memory",
      num_replicas: limits.cluster_replicas,
      max_msgs_per_subject: 1,
    }),
  );
}

export interface LeaseOptions extends Pick<LeaseMessage, "node" | "instance" | "address"> {
  readonly nats: Nats;
  /** How long it is valid, at least the usual time. */
  readonly leaseMs: number;
  readonly clock: LeaseClock;
  readonly isReady: () => boolean;
  /** Whether anything depends on it: without, it may run out and be valid again. */
  readonly isNeeded: () => boolean;
  /** It has run out while it was needed: nothing may be answered any more. Called once. */
  readonly onLost: () => void;
}

export class Lease {
  readonly #options: LeaseOptions;
  #validUntil = Number.NEGATIVE_INFINITY;
  #firstSequence: number | null = null;
  /** How many organizations are being opened. */
  #openings = 0;
  #cancel: () => void = () => undefined;
  #hasLapsed = false;
  #isOver = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#renew();
  }

  /** Once it has run out while it was needed it stays so, whatever is acknowledged late: the node is about to end. */
  get isValid(): boolean {
    const isLate = this.#options.clock.monotonic() >= this.#validUntil;
    if (isLate && this.#options.isNeeded()) this.#hasLapsed = true;
    return !isLate && !this.#hasLapsed;
  }

  /** Tells which of two nodes with one name was there first; null: not known yet. */
  get firstSequence(): number | null {
    return this.#firstSequence;
  }

  /**
   * Work that may keep this process from renewing. It begins when the longer lease is acknowledged.
   * @throws ClusterSilent if it is not; then nothing was done
   */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#openings++;
    try {
      await this.#renewed().catch((error: Error) => {
        throw new ClusterSilent(`The NATS servers do not confirm the lease of this node: ${error.message}`);
      });
      return await work();
    } finally {
      this.#openings--;
    }
  }

  /**
   * Requests may follow that keep this process from renewing: those for organizations that it has just taken.
   * @returns to be called when it has taken them; the lease is longer for a while after that
   */
  postpone(): () => void {
    this.#openings++;
    return () => void this.#options.clock.after(limits.cluster_settle_ms, () => this.#openings--);
  }

  /** Somebody else may take over. */
  async end(): Promise<void> {
    this.#isOver = true;
    this.#cancel();
    await this.#send(true).catch(() => undefined);
  }

  #renew(): void {
    const { clock, onLost, isNeeded } = this.#options;
    if (this.#isOver) return;
    if (!this.isValid && isNeeded()) {
      this.#isOver = true;
      onLost();
      return;
    }
    this.#renewed().catch(() => undefined);
    this.#cancel = clock.after(limits.cluster_lease_renewal_ms, () => this.#renew());
  }

  async #renewed(): Promise<void> {
    const sentAt = this.#options.clock.monotonic();
    const extraMs = this.#extraMs;
    await this.#send(false);
    const until = sentAt + limits.cluster_lease_ms + extraMs;
    // Shorter than before when nothing is opened any more.
    this.#validUntil = this.#openings === 0 ? until : Math.max(this.#validUntil, until);
  }

  get #extraMs(): number {
    const forOpenings = this.#openings > 0 ? limits.cluster_lease_start_ms : 0;
    return this.#options.leaseMs - limits.cluster_lease_ms + forOpenings;
  }

  async #send(isEnd: boolean): Promise<void> {
    const { nats, node, instance, address, isReady } = this.#options;
    const isHeld = this.isValid;
    const [firstSequence, extraMs] = [this.#firstSequence, this.#extraMs];
    const message = { node, instance, address, isReady: isReady(), firstSequence, extraMs, isHeld, isEnd };
    if (!nats.isConnected) throw new Error("not connected");
    const { seq } = await nats.jetStream.publish(
      `${leaseStream}.${node}`,
      JSON.stringify(message satisfies LeaseMessage),
      {
        timeout: limits.cluster_acknowledgement_ms_max,
      },
    );
    this.#firstSequence ??= seq;
  }
}
