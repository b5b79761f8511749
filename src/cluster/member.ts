/**
 * A node of a cluster. One node owns all organizations and serves; the others follow its records and take over when it
 * is gone. Which one owns is decided by claims in the streams (claim.ts), when to try by leases (leases.ts).
 */
import { setTimeout as wait } from "node:timers/promises";
import { limits } from "../../schemas/limits.ts";
import type { Durability } from "../journal/durability.ts";
import { JournalDamaged, type JournalLost, type Position } from "../journal/journal.ts";
import { environmentOf } from "../store/environment.ts";
import { LmdbTables } from "../store/lmdb-tables.ts";
import { storeVersion } from "../store/migrations.ts";
import { OwnershipLost } from "../store/path-guard.ts";
import { realmFolder } from "../store/realm-folders.ts";
import { putTurnNumber, turnNumberIn } from "../store/turn-number.ts";
import { baseRecords, countBase } from "./base.ts";
import type { ChainHead } from "./chain.ts";
import { type Claimant, claimBehind, claimNoteIn, claimRealm, headOf } from "./claim.ts";
import { ClusterDurability, type ClusterDurabilityOptions } from "./cluster-durability.ts";
import { ClusterSilent, ClusterUnusable } from "./cluster-unusable.ts";
import { connectNats, type Nats, type NatsOptions } from "./connection.ts";
import { decodeEnvelope } from "./envelope.ts";
import { lastBefore } from "./followed-realm.ts";
import { Follower, type FollowerOptions } from "./follower.ts";
import { Lease, type LeaseClock, LeaseWatch, openLeases } from "./leases.ts";
import { RealmLog } from "./realm-log.ts";
import { checkServers } from "./server-check.ts";
import { StreamJournal } from "./stream-journal.ts";
import { electionId, openStreams, type Streams } from "./streams.ts";

export interface MemberOptions extends Omit<FollowerOptions, "nats" | "streams"> {
  readonly nats: NatsOptions;
  /** Monitoring pages of the NATS servers. */
  readonly monitors: readonly string[];
  /** The cluster that the data folder belongs to; null: none. */
  readonly knownCluster: string | null;
  /** How many streams a new cluster gets. */
  readonly streams: number;
  /** The name of the node. */
  readonly node: string;
  readonly clock: LeaseClock & { now(): number };
  readonly warn: (line: string) => void;
  /** The node cannot own anything any more. Must not return. */
  readonly fatal: (error: unknown) => never;
}

interface Parts {
  readonly nats: Nats;
  readonly streams: Streams;
  readonly follower: Follower;
}

export class Member {
  readonly #options: MemberOptions;
  readonly #parts: Parts;
  readonly #claimant: Claimant;
  #lease: Lease | null = null;

  private constructor(options: MemberOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
    this.#claimant = { node: options.node, storeVersion };
  }

  /** @throws ClusterUnusable, ClusterSilent */
  static async join(options: MemberOptions): Promise<Member> {
    for (const warning of await checkServers(options.monitors)) options.warn(warning);
    const nats = await connectNats(options.nats);
    try {
      const streams = await openStreams(nats, { streams: options.streams });
      await openLeases(nats);
      if (streams.cluster !== options.knownCluster) await requireOwnNumbers(options, nats, streams);
      const follower = new Follower({ ...options, nats, streams });
      return new Member(options, { nats, streams, follower });
    } catch (error) {
      await nats.close();
      throw error;
    }
  }

  /**
   * Follows the owner until it is gone and this node has been elected.
   * @param hasStopped ends the wait
   * @returns whether this node owns the organizations now
   */
  async becomeOwner(hasStopped: () => boolean): Promise<boolean> {
    const { node, clock, warn, fatal } = this.#options;
    const { nats, streams, follower } = this.#parts;
    const election = new RealmLog(nats, streams, electionId);
    const watch = new LeaseWatch(nats, clock);
    try {
      let said: string | null = null;
      let head = await headOf(election);
      for (;;) {
        await this.#follow();
        if (hasStopped()) return false;
        const { owner, silentInMs } = watch;
        if (owner !== null && owner !== said) warn(`standby: node ${owner} owns the organizations`);
        said = owner;
        // Whoever was heard just now made the last claim.
        if (silentInMs > limits.cluster_takeover_ms / 2) head = await headOf(election);
        if (silentInMs > 0) {
          await wait(Math.min(silentInMs, limits.cluster_follow_ms));
          continue;
        }
        if ((await claimBehind(election, this.#claimant, head)) !== null) break;
        head = await headOf(election);
        watch.restart();
      }
      const onLost = () =>
        fatal(
          new OwnershipLost("The NATS servers do not confirm the lease of this node, so another one may take over."),
        );
      this.#lease = new Lease({ nats, node, clock, onLost });
      await follower.find();
      await follower.catchUp();
      return true;
    } finally {
      watch.close();
    }
  }

  /** A standby waits for servers that do not answer. */
  async #follow(): Promise<void> {
    const { follower } = this.#parts;
    try {
      await follower.find();
      await follower.catchUp();
    } catch (error) {
      if (!(error instanceof ClusterSilent)) throw error;
      this.#options.warn(error.message);
    }
  }

  /** Tells clusters apart. */
  get cluster(): string {
    return this.#parts.streams.cluster;
  }

  /** Whether this node may answer: its lease is valid. */
  get mayAnswer(): boolean {
    return this.#lease?.isValid ?? false;
  }

  /**
   * Claims every organization of the streams and of this data folder, and brings what is missing into the stores.
   * @throws JournalDamaged, ClusterUnusable
   */
  async open(options: Omit<ClusterDurabilityOptions, "journals" | "mayLeave">): Promise<Durability> {
    const { follower } = this.#parts;
    for (const { id } of this.#options.root.realms()) follower.realm(id);
    const journals = new Map<number, StreamJournal>();
    const waiting = [...follower.realms].map(({ log }) => log);
    const claimNext = async () => {
      for (let log = waiting.shift(); log !== undefined; log = waiting.shift()) {
        journals.set(log.realmId, await this.#claim(log));
      }
    };
    await Promise.all(Array.from({ length: limits.cluster_claims_concurrent_max }, claimNext));
    await follower.close();
    return ClusterDurability.open({ ...options, journals, mayLeave: () => this.mayAnswer });
  }

  async #claim(log: RealmLog): Promise<StreamJournal> {
    if ((await headOf(log)).sequence === 0) return this.#joined(log);
    const claim = await claimRealm(log, this.#claimant);
    const realm = this.#parts.follower.realm(log.realmId);
    const hasStore = await realm.catchUp(claim.sequence);
    if (hasStore && realm.turn !== claim.position) {
      throw new JournalDamaged(
        `Organization ${log.realmId} has turn ${realm.turn} here and ${claim.position} in the stream: messages are missing there. Restore a backup.`,
      );
    }
    if (hasStore && (await hasWholeBase(log, claim))) return this.#journal(log, claim);
    if (!hasStore) {
      throw new JournalDamaged(
        `Organization ${log.realmId} has never been sent to the stream as a whole. Start the node first that has its data.`,
      );
    }
    await realm.close();
    return this.#joined(log);
  }

  #journal(log: RealmLog, claim: ChainHead): StreamJournal {
    const { fatal } = this.#options;
    return new StreamJournal({
      log,
      claim,
      fatal: (error: JournalLost) => fatal(new OwnershipLost(error.message)),
    });
  }

  /** Sends the whole store, so that other nodes can build theirs. */
  async #joined(log: RealmLog): Promise<StreamJournal> {
    const { dataDir, clock, checkStore } = this.#options;
    checkStore(log.realmId);
    const tables = new LmdbTables(realmFolder(dataDir, log.realmId));
    try {
      const environment = environmentOf(tables);
      const turn = turnNumberIn(environment);
      const base = countBase(tables);
      const claim = await claimRealm(log, this.#claimant, { joins: { turn, base } });
      const journal = this.#journal(log, claim);
      for (const record of baseRecords(tables, turn, clock.now())) {
        await untilDurable(journal, journal.append(log.realmId, record));
      }
      environment.transaction(() => putTurnNumber(environment, turn + base));
      return journal;
    } finally {
      await tables.close();
    }
  }

  /** The organizations are open. */
  serving(): void {
    this.#lease?.started();
  }

  /** After everything is closed: another node may take over at once. */
  async leave(): Promise<void> {
    await this.#lease?.end();
    await this.#parts.follower.close();
    await this.#parts.nats.close();
  }
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

function untilDurable(journal: StreamJournal, position: Position): Promise<void> {
  return new Promise((resolve) => {
    journal.onDurable(() => {
      if (journal.durable >= position) resolve();
    });
  });
}

/**
 * Whether the owner that sent the store to the stream got to its end. Otherwise it is sent again at each claim, because
 * nodes that have no store read it from the first message on.
 */
async function hasWholeBase(log: RealmLog, { position, sequence }: ChainHead): Promise<boolean> {
  const first = await log.next(1);
  if (first === null) return false;
  const claim = decodeEnvelope(first.bytes);
  const base = claim.kind === "claim" ? claimNoteIn(claim).base : undefined;
  // A stream that does not begin with a base was purged, so there are snapshots.
  if (base === undefined && claim.position > 1) return true;
  const end = claim.position - 1 + (base ?? 0);
  if (base === undefined || position < end) return false;
  const last = await lastBefore(log, end, sequence);
  return last !== null && decodeEnvelope(last.bytes).epoch === claim.epoch;
}
