/**
 * A node of a cluster: it holds a lease, follows the organizations of other nodes, serves its own (realm-placement.ts),
 * and knows where requests for the others go.
 */
import { randomBytes } from "node:crypto";
import { limits } from "../../../schemas/limits.ts";
import { storeVersion } from "../../store/migrations.ts";
import { OwnershipLost } from "../../store/path-guard.ts";
import type { RealmEntry } from "../../store/root.ts";
import { headOf } from "./claim.ts";
import { ClusterDurability, type ClusterDurabilityOptions } from "./cluster-durability.ts";
import { ClusterSilent, ClusterUnusable } from "./cluster-unusable.ts";
import { connectNats, type Nats, type NatsOptions } from "./connection.ts";
import { type Destination, Destinations } from "./destinations.ts";
import { Directory } from "./directory.ts";
import { Erasures } from "./erasures.ts";
import { Follower, type FollowerOptions } from "./follower.ts";
import { Lease, type LeaseClock, openLeases } from "./leases.ts";
import { LogNotifications } from "./log-notifications.ts";
import { answerReports, askReports, type NodeReport } from "./node-report.ts";
import { NodeWatch } from "./node-watch.ts";
import { RealmClaims } from "./realm-claims.ts";
import { RealmLog } from "./realm-log.ts";
import { type ErasureSteps, RealmPlacement, type ServedRealms } from "./realm-placement.ts";
import { checkServers } from "./server-check.ts";
import { openStreams, type Streams } from "./streams.ts";

export type { Destination, ErasureSteps, ServedRealms };

export interface MemberOptions extends Omit<FollowerOptions, "nats" | "streams"> {
  readonly nats: NatsOptions;
  /** Monitoring pages of the NATS servers. */
  readonly monitors: readonly string[];
  /** The cluster that the data folder belongs to; null: none. */
  readonly knownCluster: string | null;
  /** How many streams a new cluster gets. */
  readonly streams: number;
  /** How long it may be unable to renew its lease. */
  readonly leaseMs: number;
  /** The name of the node. */
  readonly node: string;
  readonly clock: LeaseClock & { now(): number };
  readonly warn: (line: string) => void;
  /** The node cannot go on. Must not return. */
  readonly fatal: (error: unknown) => never;
}

interface MemberParts {
  readonly nats: Nats;
  readonly streams: Streams;
  readonly follower: Follower;
  readonly directory: Directory;
  readonly watch: NodeWatch;
  readonly erasures: Erasures;
}

/** The figures of a node and its cluster. */
export interface ClusterFigures {
  /** Organizations that this node serves, and that it follows. */
  readonly served: number;
  readonly followed: number;
  /** Nodes that are there, this one included. */
  readonly nodes: number;
  /** The highest epoch of an organization that it serves. */
  readonly epoch: number;
  /** Since its stores had everything that the streams had. */
  readonly followAgeS: number;
}

/** An organization is erased. Its remains are removed later. */
export class ErasureUnfinished extends Error {
  override readonly name = "ErasureUnfinished";
}

export class Member {
  readonly #options: MemberOptions;
  readonly #parts: MemberParts;
  readonly #news: LogNotifications;
  readonly #destinations: Destinations;
  readonly #instance = randomBytes(9).toString("base64url");
  #lease: Lease | null = null;
  #placement: RealmPlacement | null = null;
  #claims: RealmClaims | null = null;
  #isReady = false;
  #isOver = false;
  #loops: Promise<unknown> = Promise.resolve();
  #isWhole = false;
  #endReports: () => void = () => undefined;
  /** When the stores had everything that the streams had. */
  #followedAt: number;

  private constructor(options: MemberOptions, parts: MemberParts, news: LogNotifications) {
    this.#options = options;
    this.#parts = parts;
    this.#news = news;
    this.#followedAt = options.clock.monotonic();
    const { directory, watch } = parts;
    const owns = (id: number) => this.#placement?.owns(id) ?? false;
    this.#destinations = new Destinations({ instance: this.#instance, directory, watch, owns });
  }

  /** @throws ClusterUnusable, ClusterSilent */
  static async join(options: MemberOptions): Promise<Member> {
    for (const warning of await checkServers(options.monitors)) options.warn(warning);
    const nats = await connectNats(options.nats);
    try {
      const streams = await openStreams(nats, { streams: options.streams });
      await openLeases(nats);
      if (streams.cluster !== options.knownCluster) await requireOwnNumbers(options, nats, streams);
      const news = new LogNotifications(options.clock);
      const onNews = () => news.arrived();
      const directory = await Directory.open(nats, onNews);
      const watch = await NodeWatch.open(nats, options.clock, onNews);
      const follower = new Follower({ ...options, nats, streams });
      const claimant = { node: options.node, storeVersion };
      const erasures = new Erasures({ ...options, nats, streams, directory, follower, claimant });
      if (streams.cluster !== options.knownCluster) await erasures.bringAlong();
      // Organizations that were erased while this node was away must not be opened.
      erasures.look(() => false);
      await erasures.whenIdle();
      return new Member(options, { nats, streams, follower, directory, watch, erasures }, news);
    } catch (error) {
      await nats.close();
      throw error;
    }
  }

  /** Tells clusters apart. */
  get cluster(): string {
    return this.#parts.streams.cluster;
  }

  get node(): string {
    return this.#options.node;
  }

  /** The key that nodes show each other, so that no other program passes as one. */
  get key(): string {
    return this.#parts.directory.key;
  }

  /** Whether this node may answer: its lease is valid. */
  get mayAnswer(): boolean {
    return this.#lease?.isValid ?? false;
  }

  /** For metrics. */
  get figures(): ClusterFigures {
    const { follower, directory, watch } = this.#parts;
    const { clock } = this.#options;
    const served = directory.owners().filter(([id]) => this.owns(id));
    const epochs = served.map(([, { value }]) => value.epoch);
    return {
      served: served.length,
      followed: follower.followed,
      nodes: watch.live.length,
      epoch: epochs.reduce((highest, epoch) => Math.max(highest, epoch), 0),
      followAgeS: (clock.monotonic() - this.#followedAt) / 1000,
    };
  }

  /** Whether this node serves an organization now. */
  owns(realmId: number): boolean {
    return this.#placement?.owns(realmId) ?? false;
  }

  /** The destination of a request with this Host header. */
  destinationOf(hostHeader: string): Destination {
    return this.#destinations.find(hostHeader);
  }

  /** Whether a node has been silent for so long that others may do its work. */
  isGone(instance: string): boolean {
    return this.#parts.watch.isGone(instance);
  }

  /** Resolves when another node may own something, or after some time. */
  onceChanged(milliseconds: number): Promise<void> {
    return this.#news.once(milliseconds);
  }

  /** Makes the turns of the organizations durable that this node serves. */
  openDurability(options: Omit<ClusterDurabilityOptions, "mayLeave">): Promise<ClusterDurability> {
    return ClusterDurability.open({ ...options, mayLeave: () => this.mayAnswer });
  }

  /**
   * Begins to take part. Resolves when each organization has an owner.
   * @param address where other nodes reach this one
   */
  async start(served: ServedRealms, address: string, hasStopped: () => boolean): Promise<void> {
    const { node, clock, dataDir, checkStore, root, warn, fatal } = this.#options;
    const { nats, directory, watch, follower, erasures } = this.#parts;
    const instance = this.#instance;
    const lost = (message: string) => fatal(new OwnershipLost(message));
    const claims = new RealmClaims({
      dataDir,
      follower,
      clock,
      checkStore,
      claimant: { node, storeVersion },
      onLost: (error) => lost(error.message),
    });
    this.#claims = claims;
    const lease = new Lease({
      nats,
      node,
      instance,
      address,
      leaseMs: this.#options.leaseMs,
      clock,
      isReady: () => this.#isReady,
      isNeeded: () => this.#placement?.isBusy ?? false,
      onLost: () =>
        lost("The NATS servers do not confirm the lease of this node, so another one may take over its organizations."),
    });
    this.#lease = lease;
    const placement = new RealmPlacement({
      node,
      instance,
      directory,
      watch,
      follower,
      claims,
      lease,
      served,
      clock,
      warn,
      listed: listedIn(root),
      onChange: () => this.#news.arrived(),
    });
    this.#placement = placement;
    erasures.forget = (id) => served.forget(id);
    this.#endReports = answerReports(nats, () => this.#report(address));
    await this.#follow();
    this.#isReady = true;
    this.#loops = Promise.all([this.#followLoop(), this.#placeLoop(placement)]).catch(fatal);
    while (!placement.isPlaced && !hasStopped()) await this.#news.once(limits.cluster_follow_ms);
  }

  /** @throws ClusterUnusable */
  async #requireOwnName(): Promise<void> {
    const { watch, nats } = this.#parts;
    const sequence = this.#lease?.firstSequence ?? null;
    if (!watch.isStable || !watch.isTaken(this.node, sequence)) return;
    // A lease may still arrive after its node has ended: only a living node answers.
    const reports = await askReports(nats, limits.cluster_report_ms_max);
    if (!reports.some(({ node, instance }) => node === this.node && instance !== this.#instance)) return;
    throw new ClusterUnusable(
      `Another node with the name ${this.node} is running: give each node another CLUSTER_NODE, or stop that one.`,
    );
  }

  /**
   * @throws ClusterUnusable if another node has taken the number or the label meanwhile
   */
  async reserve(realm: Parameters<RealmPlacement["reserve"]>[0]): Promise<void> {
    if ((await this.#placement?.reserve(realm)) === true) return;
    throw new ClusterUnusable(
      `Another node creates an organization, or has one with the label ${JSON.stringify(realm.label)} or one of these hosts. Wait until this node has it too, and try again with another label.`,
    );
  }

  /**
   * Erases an organization that this node serves, on this node and in the cluster. The other nodes follow.
   * @param progress told how far the removal of files is
   * @throws ClusterUnusable when another node serves it, and what the steps throw; then it exists as before.
   *   ErasureUnfinished when it is erased and something of it is left
   */
  async erase(realmId: number, steps: ErasureSteps, progress: (done: number, total: number) => void): Promise<void> {
    if (this.#placement === null) throw new ClusterUnusable("This node does not serve yet: try again.");
    await this.#placement.erase(realmId, steps);
    await this.#parts.erasures.remove(realmId, steps.at, progress).catch((error: Error) => {
      throw new ErasureUnfinished(error.message);
    });
  }

  /** The node that serves an organization, or will in a moment; null: none. */
  ownerOf(realmId: number): string | null {
    return this.#parts.directory.owner(realmId)?.value.node ?? null;
  }

  /** Resolves when an organization that was created here is served. */
  async onceOwned(realmId: number): Promise<void> {
    this.#news.arrived();
    while (!this.owns(realmId) && !this.#isOver) await this.#news.once(limits.cluster_follow_ms);
  }

  async #followLoop(): Promise<void> {
    while (!this.#isOver) {
      await this.#news.paused(limits.cluster_follow_ms);
      if (!this.#isOver) await this.#follow();
    }
  }

  async #follow(): Promise<void> {
    const { follower } = this.#parts;
    await this.#patiently(async () => {
      await follower.find();
      await follower.catchUp((id) => this.#placement?.isFollowed(id) ?? true);
      this.#followedAt = this.#options.clock.monotonic();
      await this.#claims?.prepare();
    });
  }

  async #placeLoop(placement: RealmPlacement): Promise<void> {
    const { directory, watch, erasures } = this.#parts;
    while (!this.#isOver) {
      await this.#patiently(async () => {
        await this.#requireOwnName();
        await directory.refresh();
        erasures.look((id) => placement.isInCharge(id));
        await placement.place();
      });
      // Nodes hear of a change before the stream has it.
      const isEager = this.#news.ageMs < limits.cluster_eager_ms;
      const pauseMs = Math.min(watch.nextInMs, isEager ? limits.cluster_eager_pause_ms : limits.cluster_follow_ms);
      await this.#news.once(Math.max(pauseMs, 1));
    }
  }

  #report(address: string): NodeReport {
    const { follower } = this.#parts;
    const realms = [...follower.realms].map((realm) => {
      const { realmId } = realm.log;
      const journal = this.#placement?.journalOf(realmId) ?? null;
      return [realmId, journal?.durable ?? realm.turn, journal !== null] as const;
    });
    return { node: this.node, instance: this.#instance, address, isReady: this.#isReady, realms };
  }

  /** Waits for servers that do not answer. */
  async #patiently(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (this.#isOver) return;
      if (!(error instanceof ClusterSilent)) throw error;
      this.#options.warn(error.message);
    }
  }

  /** Hands over what this node serves to nodes that are there. The rest stays. */
  async handOverAll(): Promise<void> {
    await this.#placement?.leave();
    this.#isWhole = this.#parts.directory.owners().every(([id]) => this.owns(id));
  }

  /**
   * After everything is closed: other nodes may take over at once.
   * @returns whether the data folder has everything of every organization
   */
  async leave(): Promise<boolean> {
    this.#isOver = true;
    this.#news.arrived();
    const { nats, follower, directory, watch, erasures } = this.#parts;
    this.#endReports();
    await this.#loops;
    await erasures.whenIdle();
    await this.#lease?.end();
    directory.close();
    watch.close();
    await follower.close();
    await nats.close();
    return this.#isWhole;
  }
}

/** Organizations of a data folder, read again after one was added or erased. */
function listedIn(root: MemberOptions["root"]): () => readonly RealmEntry[] {
  let known: { readonly revision: number; readonly realms: readonly RealmEntry[] } | null = null;
  return () => {
    const revision = root.revision();
    if (known?.revision !== revision) known = { revision, realms: root.realms() };
    return known.realms;
  };
}

/**
 * Organizations that this data folder brings along must not have the numbers of others.
 * @throws ClusterUnusable
 */
async function requireOwnNumbers({ root, dataDir }: MemberOptions, nats: Nats, streams: Streams): Promise<void> {
  for (const { id } of root.realms()) {
    if ((await headOf(new RealmLog(nats, streams, id))).sequence === 0) continue;
    throw new ClusterUnusable(
      `The streams have an organization with number ${id}, and so has ${dataDir}, which is not a node of this cluster. Start with an empty DATA_DIR: the node builds its stores from the streams.`,
    );
  }
}
