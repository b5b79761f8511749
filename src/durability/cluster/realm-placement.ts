/**
 * Decides which organizations this node serves. It takes those that are its own by placement (placement.ts) and have no
 * owner that lives, and hands over those that belong elsewhere. The directory says who serves; a claim in the
 * organization's stream keeps all other nodes from writing (claim.ts).
 */
import { limits } from "../../../schemas/limits.ts";
import type { RealmEntry } from "../../store/root.ts";
import { ClusterSilent, ClusterUnusable } from "./cluster-unusable.ts";
import type { Directory, Fact, OwnerFact } from "./directory.ts";
import type { Follower } from "./follower.ts";
import type { Lease } from "./leases.ts";
import type { ChainHead } from "./log-chain.ts";
import type { LiveNode, NodeWatch } from "./node-watch.ts";
import { type Candidate, KnownScores, preferredNode } from "./placement.ts";
import type { RealmClaims } from "./realm-claims.ts";
import type { StreamJournal } from "./stream-journal.ts";

/** The server's handlers for organizations that this node takes or hands over. */
export interface ServedRealms {
  /** Everything of it is in the store, and its turns go to this journal: opens it. */
  open(realmId: number, journal: StreamJournal): void;
  /** Nothing of it arrives any more. Resolves when it is closed, with everything durable. */
  close(realmId: number): Promise<void>;
  /** Creates the first organization in the data folder. */
  createFirst(): Promise<void>;
  /** It was erased: nothing of it stays in memory. */
  forget(realmId: number): void;
}

/** How an organization is closed for its erasure. */
export interface ErasureSteps {
  readonly at: number;
  /** @throws Error if somebody uses it */
  withdraw(): Promise<void>;
  /** It is closed, and its store has everything. @throws Error if it must not be erased */
  check(): Promise<void>;
  /** It is not erased. */
  giveBack(): void;
}

export interface RealmPlacementOptions {
  readonly node: string;
  readonly instance: string;
  readonly directory: Directory;
  readonly watch: NodeWatch;
  readonly follower: Follower;
  readonly claims: RealmClaims;
  readonly lease: Lease;
  readonly served: ServedRealms;
  readonly clock: { monotonic(): number };
  /** The organizations of the data folder. */
  readonly listed: () => readonly RealmEntry[];
  readonly warn: (line: string) => void;
  /** The owner of an organization has changed. */
  readonly onChange: () => void;
}

type Target = LiveNode & Candidate;

/** The first organization of a cluster has it. */
const firstRealmId = 1;

export class RealmPlacement {
  readonly #options: RealmPlacementOptions;
  readonly #owned = new Map<number, StreamJournal>();
  /** Being claimed, opened or closed. */
  readonly #changing = new Set<number>();
  /** Since when organizations have no owner that lives. */
  readonly #orphanedAt = new Map<number, number>();
  /** When organizations are tried again that could not be taken. */
  readonly #retryAt = new Map<number, number>();
  readonly #scores = new KnownScores();
  #isLeaving = false;
  #placing: Promise<void> = Promise.resolve();

  constructor(options: RealmPlacementOptions) {
    this.#options = options;
  }

  /** Whether this node serves it now. */
  owns(realmId: number): boolean {
    return this.#owned.has(realmId);
  }

  /** null: this node does not serve it. */
  journalOf(realmId: number): StreamJournal | null {
    return this.#owned.get(realmId) ?? null;
  }

  /** Whether its store belongs to the follower. */
  isFollowed(realmId: number): boolean {
    return !this.#owned.has(realmId) && !this.#changing.has(realmId);
  }

  /** Whether anything depends on the lease. */
  get isBusy(): boolean {
    return this.#owned.size > 0 || this.#changing.size > 0;
  }

  /** Whether every organization has an owner that lives. */
  get isPlaced(): boolean {
    const { directory, watch, node } = this.#options;
    const owners = directory.owners();
    const isServed = ([id, { value }]: (typeof owners)[number]) =>
      this.#isMine(value) ? this.#owned.has(id) : value.node !== node && watch.find(value.instance) !== null;
    return owners.length > 0 && owners.every(isServed) && this.#known().every((id) => directory.owner(id) !== null);
  }

  /** Takes and hands over what is due now. @throws ClusterSilent, JournalDamaged */
  place(): Promise<void> {
    const placing = this.#place();
    this.#placing = placing.catch(() => undefined);
    return placing;
  }

  async #place(): Promise<void> {
    if (this.#isLeaving) return;
    const known = this.#known();
    const candidates = this.#candidates();
    const waiting = known.filter((id) => this.#isDue(id, candidates));
    if (known.length === 0 && this.#mayCreateFirst()) waiting.push(firstRealmId);
    const takeNext = async () => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) await this.#tryTo(id);
    };
    const taken =
      waiting.length > limits.cluster_claims_concurrent_max ? this.#options.lease.postpone() : () => undefined;
    await Promise.all(Array.from({ length: limits.cluster_claims_concurrent_max }, takeNext)).finally(taken);
    const now = this.#candidates();
    for (const id of [...this.#owned.keys()].filter((one) => this.#targetOf(one, now) !== null)) {
      const target = this.#isLeaving ? null : this.#targetOf(id, this.#candidates());
      if (target !== null) await this.handOver(id, target);
    }
  }

  /** Closes an organization here and makes another node its owner. */
  async handOver(realmId: number, target: Pick<LiveNode, "node" | "instance">): Promise<void> {
    const { directory, served, onChange } = this.#options;
    const [fact, journal] = [directory.owner(realmId), this.#owned.get(realmId)];
    if (fact === null || journal === undefined) return;
    this.#changing.add(realmId);
    this.#owned.delete(realmId);
    onChange();
    try {
      await served.close(realmId);
      const { node, instance } = target;
      const epoch = journal.epoch + 1;
      await directory.put("owner", String(realmId), { ...fact.value, node, instance, epoch }, fact.sequence);
    } finally {
      this.#changing.delete(realmId);
      onChange();
    }
  }

  /**
   * Makes an organization of this node one that does not exist.
   * @throws ClusterUnusable when another node serves it, and what the steps throw; then it exists as before
   */
  async erase(realmId: number, { at, withdraw, check, giveBack }: ErasureSteps): Promise<void> {
    const { directory, node, served, onChange } = this.#options;
    const [fact, journal] = [directory.owner(realmId), this.#owned.get(realmId)];
    if (fact === null || journal === undefined) throw goneElsewhere(realmId);
    this.#changing.add(realmId);
    this.#owned.delete(realmId);
    onChange();
    try {
      await withdraw().catch((error: Error) => {
        this.#owned.set(realmId, journal);
        throw error;
      });
      try {
        await served.close(realmId);
        await check();
        const isErased = await directory.erase(realmId, node, { at, isCleared: false }, fact.sequence);
        if (!isErased) throw goneElsewhere(realmId);
      } catch (error) {
        // It is still this node's, which takes it again.
        giveBack();
        throw error;
      }
    } finally {
      this.#changing.delete(realmId);
      onChange();
    }
  }

  /** The node stops: others get what it has. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    await this.#placing;
    for (const id of [...this.#owned.keys()]) {
      const others = this.#candidates().filter(({ instance, isReady }) => this.#isOther(instance) && isReady);
      const target = this.#preferred(id, others, this.#options.directory.pin(id));
      if (target !== null) await this.handOver(id, target);
    }
  }

  /**
   * Makes this node the owner of an organization that it is about to create.
   * @returns false if another node has taken the number
   */
  async reserve({ id, label, hosts }: Pick<RealmEntry, "id" | "label" | "hosts">): Promise<boolean> {
    const { directory, node, instance } = this.#options;
    await directory.refresh();
    const others = directory.all().filter(([other, { value }]) => other !== id && !this.#isGivenUp(value));
    const isTaken = others.some(
      ([, { value }]) => value.label === label || value.hosts.some((host) => hosts.includes(host)),
    );
    const fact = directory.owner(id);
    if (isTaken || (fact !== null && !this.#isGivenUp(fact.value))) return false;
    const owner: OwnerFact = { node, instance, epoch: 1, label, hosts, isReserved: true };
    return directory.put("owner", String(id), owner, fact?.sequence ?? 0);
  }

  /** Its creation failed. One at a time creates organizations on a node. */
  #isGivenUp(value: OwnerFact): boolean {
    return value.isReserved === true && (this.#isMine(value) || this.#options.watch.isGone(value.instance));
  }

  #known(): number[] {
    const { directory, follower, listed } = this.#options;
    const ids = new Set([
      ...directory.owners().map(([id]) => id),
      ...[...follower.realms].map(({ log }) => log.realmId),
      ...listed().map(({ id }) => id),
    ]);
    return [...ids].filter((id) => !directory.isErased(id)).toSorted((a, b) => a - b);
  }

  #candidates(): Target[] {
    const { watch, directory } = this.#options;
    return watch.live.map((live) => ({ ...live, isDraining: directory.isDraining(live.node) }));
  }

  #preferred(id: number, candidates: readonly Target[], pin: string | null): Target | null {
    return preferredNode(id, candidates, pin, this.#scores);
  }

  #isMine(owner: OwnerFact): boolean {
    return owner.instance === this.#options.instance;
  }

  #isOther(instance: string): boolean {
    return instance !== this.#options.instance;
  }

  /** Whether this node should take an organization that it does not serve. */
  #isDue(id: number, candidates: readonly Target[]): boolean {
    const { directory, watch, node, clock, lease } = this.#options;
    if (!this.isFollowed(id) || !lease.isValid) return false;
    if (clock.monotonic() < (this.#retryAt.get(id) ?? 0)) return false;
    const fact = directory.owner(id);
    if (fact !== null && this.#isMine(fact.value)) return true;
    if (fact !== null && !watch.isGone(fact.value.instance)) {
      this.#orphanedAt.delete(id);
      return false;
    }
    const now = clock.monotonic();
    const since = this.#orphanedAt.get(id) ?? now;
    this.#orphanedAt.set(id, since);
    const preferred = this.#preferred(id, candidates, directory.pin(id));
    // The one that should take it may not be able to.
    return preferred?.node === node || now - since > limits.cluster_orphan_ms_max;
  }

  #mayCreateFirst(): boolean {
    const { watch, node, lease } = this.#options;
    const preferred = this.#preferred(firstRealmId, this.#candidates(), null);
    return lease.isValid && preferred?.node === node && watch.isStable && this.isFollowed(firstRealmId);
  }

  /** An organization that cannot be taken now does not keep the others from being served. */
  async #tryTo(id: number): Promise<void> {
    const { clock, warn } = this.#options;
    try {
      await this.#take(id);
      this.#retryAt.delete(id);
    } catch (error) {
      if (!(error instanceof ClusterUnusable || error instanceof ClusterSilent)) throw error;
      warn(error.message);
      this.#retryAt.set(id, clock.monotonic() + limits.cluster_orphan_ms_max);
    }
  }

  async #take(id: number): Promise<void> {
    const { directory, claims, lease, served, onChange, follower } = this.#options;
    this.#changing.add(id);
    try {
      const head = await this.#enter(id, directory.owner(id));
      if (head === null) return;
      await lease.during(async () => {
        if (this.#hasNothing(id, head)) await served.createFirst();
        const journal = await claims.claim(id, head);
        if (journal === null) return;
        await follower.list(id);
        this.#owned.set(id, journal);
        served.open(id, journal);
      });
    } finally {
      this.#changing.delete(id);
      this.#orphanedAt.delete(id);
      onChange();
    }
  }

  /** No node has ever written it, and this node has no store of it. */
  #hasNothing(id: number, { epoch }: ChainHead): boolean {
    return epoch === 0 && id === firstRealmId && this.#options.listed().length === 0;
  }

  /** Enters this node as the owner. @returns what its claim follows; null if another node was faster */
  async #enter(id: number, fact: Fact<OwnerFact> | null): Promise<ChainHead | null> {
    const { directory, claims, node, instance, listed } = this.#options;
    const head = await claims.head(id);
    const epoch = head.epoch + 1;
    const isEntered = fact !== null && this.#isMine(fact.value) && fact.value.isReserved !== true;
    if (isEntered && fact.value.epoch === epoch) return head;
    const { label, hosts } = listed().find((entry) => entry.id === id) ?? fact?.value ?? { label: "", hosts: [] };
    const owner: OwnerFact = { node, instance, epoch, label, hosts };
    return (await directory.put("owner", String(id), owner, fact?.sequence ?? 0)) ? head : null;
  }

  /** Whether this node does what one of them has to do for an organization that no node serves. */
  isInCharge(id: number): boolean {
    return this.#preferred(id, this.#candidates(), null)?.node === this.#options.node;
  }

  /** Where an organization of this node belongs, if that is elsewhere and it can go there now. */
  #targetOf(id: number, candidates: readonly Target[]): Target | null {
    const { directory, node, clock } = this.#options;
    const pin = directory.pin(id);
    const preferred = this.#preferred(id, candidates, pin);
    if (preferred === null || preferred.node === node || !preferred.isReady) return null;
    const isWanted = preferred.node === pin || directory.isDraining(node);
    const isStable = clock.monotonic() - preferred.since >= limits.cluster_settle_ms;
    return isWanted || isStable ? preferred : null;
  }
}

function goneElsewhere(realmId: number): ClusterUnusable {
  return new ClusterUnusable(`Another node has taken over organization ${realmId}: run the command there.`);
}
