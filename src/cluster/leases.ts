/**
 * The lease of the node that owns the organizations: a message every 300 ms, which a majority of the NATS servers
 * acknowledges. The owner stops 1.0 s after it sent the last one that was acknowledged; a standby waits for 1.2 s after
 * it received one. So at most one node answers reads; that at most one writes is the work of claims, not of clocks.
 */
import { limits } from "../../schemas/limits.ts";
import type { Nats } from "./connection.ts";
import { requested } from "./request.ts";

export interface LeaseClock {
  monotonic(): number;
  /** @returns a function that cancels the timer */
  after(milliseconds: number, callback: () => void): () => void;
}

interface LeaseMessage {
  readonly node: string;
  /** How much longer than usual it is valid: a node that opens its organizations may not get round to renew it. */
  readonly extraMs: number;
  /** Whether the sender holds a lease that was acknowledged: one that hears no acknowledgements is as good as gone. */
  readonly isHeld: boolean;
  /** The node stops in order: somebody else may take over at once. */
  readonly isEnd: boolean;
}

const stream = "leases";

/** One message for each node, in memory: a lease is worthless after a restart. */
export async function openLeases(nats: Nats): Promise<void> {
  await requested(nats, () =>
    nats.manager.streams.add({
      name: stream,
      subjects: [`${stream}.*`],
      storage: "memory",
      num_replicas: limits.cluster_replicas,
      max_msgs_per_subject: 1,
    }),
  );
}

export interface LeaseOptions {
  readonly nats: Nats;
  readonly node: string;
  readonly clock: LeaseClock;
  /** The lease has run out: nothing may be answered any more. Called once. */
  readonly onLost: () => void;
}

/** Held by the owner. */
export class Lease {
  readonly #options: LeaseOptions;
  #validUntil: number;
  #extraMs: number = limits.cluster_lease_start_ms;
  #cancel: () => void = () => undefined;
  #hasLapsed = false;
  #isOver = false;

  /** The claim that has just been acknowledged counts as the first renewal. */
  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#validUntil = options.clock.monotonic() + limits.cluster_lease_ms + this.#extraMs;
    this.#renew();
  }

  /** Once it has run out it stays so, whatever is acknowledged late: the node is about to end. */
  get isValid(): boolean {
    this.#hasLapsed ||= this.#options.clock.monotonic() >= this.#validUntil;
    return !this.#hasLapsed;
  }

  /** The organizations are open: from now on a node that does not renew in time is given up soon. */
  started(): void {
    this.#extraMs = 0;
  }

  /** Somebody else may take over. */
  async end(): Promise<void> {
    this.#isOver = true;
    this.#cancel();
    await this.#send(true).catch(() => undefined);
  }

  #renew(): void {
    const { clock, onLost } = this.#options;
    if (this.#isOver) return;
    if (!this.isValid) {
      this.#isOver = true;
      onLost();
      return;
    }
    const sentAt = clock.monotonic();
    const extraMs = this.#extraMs;
    this.#send(false).then(
      () => {
        // Shorter than before if the start is over.
        const until = sentAt + limits.cluster_lease_ms + extraMs;
        this.#validUntil = extraMs === 0 ? until : Math.max(this.#validUntil, until);
      },
      () => undefined,
    );
    this.#cancel = clock.after(limits.cluster_lease_renewal_ms, () => this.#renew());
  }

  async #send(isEnd: boolean): Promise<void> {
    const { nats, node } = this.#options;
    const message: LeaseMessage = { node, extraMs: this.#extraMs, isHeld: this.isValid, isEnd };
    if (!nats.isConnected) throw new Error("not connected");
    await nats.jetStream.publish(`${stream}.${node}`, JSON.stringify(message), {
      timeout: limits.cluster_acknowledgement_ms_max,
    });
  }
}

/** What a standby hears of the owner. */
export class LeaseWatch {
  readonly #clock: LeaseClock;
  readonly #subscription: { unsubscribe(): void };
  #silentFrom: number;
  /** Of the last lease that was heard. */
  owner: string | null = null;

  constructor(nats: Nats, clock: LeaseClock) {
    this.#clock = clock;
    this.#silentFrom = 0;
    this.restart();
    this.#subscription = nats.connection.subscribe(`${stream}.*`, {
      callback: (error, message) => {
        if (error === null) this.#heard(message.json<LeaseMessage>());
      },
    });
  }

  /** Waits for the whole time again: another node has just taken over. */
  restart(): void {
    this.#silentFrom = this.#clock.monotonic() + limits.cluster_takeover_ms;
  }

  /** Nobody holds a lease: after so many milliseconds; 0 or less: now. */
  get silentInMs(): number {
    return this.#silentFrom - this.#clock.monotonic();
  }

  close(): void {
    this.#subscription.unsubscribe();
  }

  #heard({ node, extraMs, isHeld, isEnd }: LeaseMessage): void {
    const now = this.#clock.monotonic();
    if (isEnd) {
      this.#silentFrom = now;
      return;
    }
    this.owner = node;
    if (isHeld) this.#silentFrom = now + limits.cluster_takeover_ms + extraMs;
  }
}
