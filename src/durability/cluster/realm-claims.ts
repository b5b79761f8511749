/** Claims a realm for this node, and brings everything that it has into the store, so that it can be served. */

import { lmdbOf } from "../../store/lmdb.ts";
import { LmdbTables } from "../../store/lmdb-tables.ts";
import { realmFolder } from "../../store/realm-folders.ts";
import { putTurnNumber, turnNumberIn } from "../../store/turn-number.ts";
import { JournalDamaged, type JournalLost, type RecordNumber } from "../journal/journal.ts";
import { baseRecords, countBase } from "./base.ts";
import { type Claimant, claimEpoch, claimNoteIn, headOf, requireKnownVersion } from "./claim.ts";
import { decodeEnvelope } from "./envelope.ts";
import { lastBefore } from "./followed-realm.ts";
import type { Follower } from "./follower.ts";
import type { ChainHead } from "./log-chain.ts";
import type { RealmLog } from "./realm-log.ts";
import { StreamJournal } from "./stream-journal.ts";

export interface RealmClaimsOptions {
  readonly dataDir: string;
  readonly follower: Follower;
  readonly claimant: Claimant;
  readonly clock: { now(): number };
  /** @throws DamagedData */
  readonly checkStore: (realmId: number) => void;
  /** Another node claimed a realm that this one serves. */
  readonly onLost: (error: JournalLost) => void;
}

export class RealmClaims {
  readonly #options: RealmClaimsOptions;
  /** Realms of which the stream has had the whole store, or snapshots: that does not change. */
  readonly #whole = new Set<number>();
  readonly #requested = new Set<number>();

  constructor(options: RealmClaimsOptions) {
    this.#options = options;
  }

  /**
   * The last message, which the next claim follows.
   * @throws ClusterUnusable when a newer program wrote to the realm
   */
  async head(realmId: number): Promise<ChainHead> {
    const { follower, claimant } = this.#options;
    const head = await headOf(follower.realm(realmId).log);
    requireKnownVersion(realmId, head, claimant);
    return head;
  }

  /** Asks in advance what a claim has to know, for one realm after the other: then it takes less time. */
  async prepare(): Promise<void> {
    for (const { log, turn } of this.#options.follower.realms) {
      if (turn === 0 || this.#requested.has(log.realmId)) continue;
      this.#requested.add(log.realmId);
      await this.#isWhole(log, await headOf(log));
      return;
    }
  }

  async #isWhole(log: RealmLog, head: ChainHead): Promise<boolean> {
    if (!this.#whole.has(log.realmId) && (await hasWholeBase(log, head))) this.#whole.add(log.realmId);
    return this.#whole.has(log.realmId);
  }

  /**
   * @param head as it was a moment ago
   * @returns null if somebody else has claimed the realm since
   * @throws JournalDamaged, ClusterUnusable
   */
  async claim(realmId: number, head: ChainHead): Promise<StreamJournal | null> {
    const realm = this.#options.follower.realm(realmId);
    const { log } = realm;
    const epoch = head.epoch + 1;
    if (head.sequence === 0) return this.#join(log, epoch);
    const claim = await claimEpoch(log, this.#options.claimant, epoch, { behind: head });
    if (claim === null) return null;
    const [hasStore, isWhole] = await Promise.all([realm.catchUp(claim.sequence), this.#isWhole(log, claim)]);
    if (hasStore && realm.turn !== claim.position) {
      throw new JournalDamaged(
        `Organization ${log.realmId} has turn ${realm.turn} here and ${claim.position} in the stream: messages are missing there. Restore a backup.`,
      );
    }
    if (!hasStore) {
      throw new JournalDamaged(
        `Organization ${log.realmId} has never been sent to the stream as a whole. Start the node first that has its data.`,
      );
    }
    await realm.close();
    if (isWhole) return this.#journal(log, claim);
    return this.#join(log, epoch + 1);
  }

  #journal(log: RealmLog, claim: ChainHead): StreamJournal {
    return new StreamJournal({ log, claim, fatal: this.#options.onLost });
  }

  /** Sends the whole store, so that other nodes can build theirs. */
  async #join(log: RealmLog, epoch: number): Promise<StreamJournal | null> {
    const { dataDir, claimant, clock, checkStore } = this.#options;
    checkStore(log.realmId);
    const tables = new LmdbTables(realmFolder(dataDir, log.realmId));
    try {
      const lmdb = lmdbOf(tables);
      const turn = turnNumberIn(lmdb);
      const base = countBase(tables);
      const claim = await claimEpoch(log, claimant, epoch, { joins: { turn, base } });
      if (claim === null) return null;
      const journal = this.#journal(log, claim);
      for (const record of baseRecords(tables, turn, clock.now())) {
        await untilDurable(journal, journal.append(log.realmId, record));
      }
      lmdb.transaction(() => putTurnNumber(lmdb, turn + base));
      return journal;
    } finally {
      await tables.close();
    }
  }
}

function untilDurable(journal: StreamJournal, position: RecordNumber): Promise<void> {
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
