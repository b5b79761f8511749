/**
 * The store of a realm on a node that does not own it: gets the records of the owner in order, after the chain was
 * checked. A node that has no store of the realm yet restores the newest snapshot, or builds one from the records that
 * the realm joined with. So does one that was away for so long that the stream has forgotten what it lacks.
 */
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { dataFile, stateOfFile } from "../../store/data-file.ts";
import { flushFolderSync, flushTree } from "../../store/folders.ts";
import { lmdbOf } from "../../store/lmdb.ts";
import { LmdbTables } from "../../store/lmdb-tables.ts";
import { finishStagedRealm, realmFolder, stageRealm } from "../../store/realm-folders.ts";
import { putTurnNumber } from "../../store/turn-number.ts";
import { JournalDamaged, type RecordNumber } from "../journal/journal.ts";
import { LaggingStore } from "../journal/lagging-store.ts";
import { claimNoteIn } from "./claim.ts";
import { decodeEnvelope } from "./envelope.ts";
import { headAt, LogChain, type StreamMessage } from "./log-chain.ts";
import type { RealmLog } from "./realm-log.ts";
import { restoreStore } from "./snapshot-download.ts";
import type { Snapshots } from "./snapshots.ts";

export interface FollowedRealmOptions {
  readonly dataDir: string;
  readonly log: RealmLog;
  /** Checks the pages of a store before it is opened. @throws DamagedData */
  readonly checkStore: (realmId: number) => void;
  readonly snapshots: Snapshots;
  readonly warn: (line: string) => void;
}

export class FollowedRealm {
  readonly #options: FollowedRealmOptions;
  #chain: LogChain | null = null;
  /** null: there is none, or nothing has come for a while. */
  #store: LaggingStore | null = null;
  #turn = 0;
  #last: Promise<unknown> = Promise.resolve();
  #isEnded = false;

  constructor(options: FollowedRealmOptions) {
    this.#options = options;
  }

  get log(): RealmLog {
    return this.#options.log;
  }

  /** The last turn that the store has; 0 if there is none, or if it belongs to somebody else. */
  get turn(): number {
    return this.#turn;
  }

  /** Whether its store is open. */
  get isOpen(): boolean {
    return this.#store !== null;
  }

  /**
   * Brings everything into the store that the stream has now, or up to a message.
   * @returns whether there is a store now
   * @throws JournalDamaged when a message does not follow the one before it
   */
  catchUp(upTo = Number.POSITIVE_INFINITY): Promise<boolean> {
    return this.#alone(async () => {
      if (this.#isEnded || (this.#chain === null && !(await this.#open()))) return false;
      await this.#drain(upTo);
      return true;
    });
  }

  close(): Promise<void> {
    return this.#alone(async () => {
      await this.#closeStore();
      this.#chain = null;
      this.#turn = 0;
    });
  }

  /** No messages arrive at the moment: the store is closed, and opened again when one does. */
  rest(): Promise<void> {
    return this.#alone(() => this.#closeStore());
  }

  async #closeStore(): Promise<void> {
    await this.#store?.close();
    this.#store = null;
  }

  /** It was erased. Resolves when nothing here uses its files any more. */
  end(): Promise<void> {
    this.#isEnded = true;
    return this.close();
  }

  /** One after the other. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work, work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #drain(upTo: number): Promise<void> {
    try {
      await this.#follow(upTo);
    } catch (error) {
      const { log } = this.#options;
      const first = error instanceof JournalDamaged ? await log.next(1) : null;
      // Otherwise it is no gap that a purge left.
      if (first === null || first.sequence <= (this.#chain as LogChain).head.sequence) throw error;
      await this.#replace();
      await this.#follow(upTo);
    }
  }

  async #follow(upTo: number): Promise<void> {
    const { log, dataDir } = this.#options;
    const chain = this.#chain as LogChain;
    while (chain.head.sequence < upTo) {
      const message = await log.next(chain.head.sequence + 1);
      if (message === null || message.sequence > upTo) break;
      for (const { bytes } of chain.take(message)) {
        this.#store ??= new LaggingStore(realmFolder(dataDir, log.realmId));
        this.#store.add(bytes);
      }
    }
    this.#store?.write();
    this.#turn = this.#store?.turn ?? this.#turn;
  }

  async #open(): Promise<boolean> {
    const { dataDir, log, checkStore } = this.#options;
    const folder = realmFolder(dataDir, log.realmId);
    if (stateOfFile(dataFile(folder)) === "missing" && !(await this.#build())) return false;
    checkStore(log.realmId);
    const store = new LaggingStore(folder);
    this.#store = store;
    this.#turn = store.turn;
    const last = await log.last();
    if (last !== null && headAt(last).position < store.turn) {
      throw new JournalDamaged(
        `${folder} has turn ${store.turn}, but the stream ends with turn ${headAt(last).position}: it belongs to another cluster, or the stream was restored from an older copy.`,
      );
    }
    this.#chain = new LogChain(log.realmId, null);
    const known = last === null ? null : await lastBefore(log, store.turn, last.sequence);
    if (known === null) {
      const first = await log.next(1);
      if (first !== null && decodeEnvelope(first.bytes).position > store.turn + 1) await this.#replace();
      return true;
    }
    // Parts of a record that the store has: what follows is checked against the last of them.
    if (decodeEnvelope(known.bytes).kind === "part") this.#chain = new LogChain(log.realmId, headAt(known));
    else for (const { bytes } of this.#chain.take(known)) store.add(bytes);
    return true;
  }

  /**
   * The stream has forgotten what the store lacks: the newest snapshot takes its place.
   * @throws JournalDamaged when there is none that can be used
   */
  async #replace(): Promise<void> {
    const { dataDir, log, snapshots, warn } = this.#options;
    const { realmId } = log;
    const folder = realmFolder(dataDir, realmId);
    warn(`The store of organization ${realmId} is too old: the newest snapshot takes its place.`);
    await this.#closeStore();
    const staged = stageRealm(dataDir);
    try {
      if ((await restoreStore({ realmId, snapshots, folder: staged, warn })) === null) throw noSnapshot(realmId);
      renameSync(dataFile(staged), dataFile(folder));
      rmSync(join(folder, "lock.mdb"), { force: true });
      flushFolderSync(folder);
    } finally {
      rmSync(staged, { recursive: true, force: true });
    }
    await this.#open();
  }

  /** @returns false if the stream does not have the whole store yet */
  async #build(): Promise<boolean> {
    const { dataDir, log, snapshots, warn } = this.#options;
    const staged = stageRealm(dataDir);
    try {
      const { realmId } = log;
      const isRestored = (await restoreStore({ realmId, snapshots, folder: staged, warn })) !== null;
      if (!isRestored && !(await this.#fill(staged))) {
        if ((await snapshots.of(realmId)).snapshots.length > 0) throw noSnapshot(realmId);
        return false;
      }
      await flushTree(staged);
      finishStagedRealm(staged, dataDir, log.realmId);
      return true;
    } finally {
      rmSync(staged, { recursive: true, force: true });
    }
  }

  async #fill(staged: string): Promise<boolean> {
    const { log } = this.#options;
    const chain = new LogChain(log.realmId, null);
    let store: LaggingStore | null = null;
    /** The turn that the records of the last base end with. */
    let wanted: RecordNumber = Number.POSITIVE_INFINITY;
    try {
      for (let message = await log.next(1); message !== null; message = await log.next(message.sequence + 1)) {
        const envelope = decodeEnvelope(message.bytes);
        const base = envelope.kind === "claim" ? claimNoteIn(envelope).base : undefined;
        const records = chain.take(message);
        if (base !== undefined) {
          await store?.close();
          rmSync(staged, { recursive: true, force: true });
          store = await emptyStore(staged, envelope.position - 1);
          wanted = envelope.position - 1 + base;
        }
        for (const { bytes } of records) store?.add(bytes);
        if (chain.head.position < wanted) continue;
        store?.write();
        return store !== null;
      }
      return false;
    } finally {
      await store?.close();
    }
  }
}

function noSnapshot(realmId: number): JournalDamaged {
  return new JournalDamaged(
    `No snapshot of organization ${realmId} can be used, and its stream does not have the whole store. Start a node that has its store and run there: cli cluster snapshot ${realmId}. Otherwise restore a backup.`,
  );
}

/** A draft: nothing of it is flushed. */
async function emptyStore(folder: string, turn: number): Promise<LaggingStore> {
  const tables = new LmdbTables(folder, "inner-pages", true);
  const lmdb = lmdbOf(tables);
  lmdb.transaction(() => putTurnNumber(lmdb, turn));
  await tables.close();
  return new LaggingStore(folder, true);
}

/** The last message that begins with this turn or an earlier one; null if there is none. Positions only grow. */
export async function lastBefore(log: RealmLog, turn: number, lastSequence: number): Promise<StreamMessage | null> {
  let found: StreamMessage | null = null;
  for (let low = 1, high = lastSequence; low <= high; ) {
    const message = await log.next(low + Math.floor((high - low) / 2));
    const isBefore = message !== null && message.sequence <= high && decodeEnvelope(message.bytes).position <= turn;
    if (isBefore) {
      found = message;
      low = message.sequence + 1;
    } else high = low + Math.floor((high - low) / 2) - 1;
  }
  return found;
}
