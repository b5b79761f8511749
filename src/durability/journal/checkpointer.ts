/**
 * Hands durable records to the checkpoint thread: for each realm the records since its last checkpoint, from time to
 * time or when many wait, one order at a time.
 */
import { limits } from "../../../schemas/limits.ts";
import { encodeRow, nameOfKey } from "../../store/codec.ts";
import { ownerKey, takenOver } from "../../store/fence.ts";
import { OwnershipLost } from "../../store/path-guard.ts";
import { turnKey } from "../../store/turn-number.ts";
import { type CheckpointMaker, type StartMaker, startCheckpointThread } from "./checkpoint-maker.ts";
import type { CheckpointNotice } from "./checkpoint-worker.ts";
import type { RecordNumber } from "./journal.ts";
import { type RecordedWrite, RecordPack } from "./record.ts";

interface WaitingRecord {
  readonly position: RecordNumber;
  readonly turn: number;
  /** Size in the pack. */
  readonly bytes: number;
}

export interface StoredRealm {
  readonly id: number;
  readonly folder: string;
  /** The last turn that the store has, and the row that says so. */
  readonly turn: number;
  readonly turnRow: RecordedWrite;
  readonly onCheckpointed: (turn: number) => void;
}

interface AdoptedRealm extends StoredRealm {
  turn: number;
  turnRow: RecordedWrite;
  /** Records that the store does not have, in order. */
  readonly waiting: WaitingRecord[];
  /** Their bytes, without those that the thread works on. */
  readonly pack: RecordPack;
  /** Called when the store has everything. */
  onApplied: () => void;
}

/** The order that the thread is working on. */
interface Order {
  readonly realm: AdoptedRealm;
  /** Number of records. */
  readonly records: number;
  readonly turn: number;
  readonly turnRow: RecordedWrite;
  /** Memory of the buffers that the thread reads. */
  readonly memoryBytes: number;
}

export interface CheckpointerOptions {
  /** The token of the process that owns the stores; null if no other process can write. */
  readonly owner: string | null;
  readonly after: (milliseconds: number, callback: () => void) => () => void;
  /** Whether the disk has space for a checkpoint. */
  readonly hasSpace: () => boolean;
  /** Whether a checkpoint should not wait for its time. */
  readonly isUrgent: () => boolean;
  /** Must not return (M5). */
  readonly fatal: (error: unknown) => never;
  /**
   * A checkpoint ended: the stores have all records up to `storedUpTo`.
   * @param isLast no other realm waits for its checkpoint of this run
   */
  readonly onProgress: (isLast: boolean) => void;
  /** By default the checkpoint thread. */
  readonly startMaker?: StartMaker;
}

export class Checkpointer {
  readonly #options: CheckpointerOptions;
  readonly #maker: CheckpointMaker;
  readonly #ready = ready();
  readonly #guards: readonly RecordedWrite[];
  /** In the order in which they are visited. */
  readonly #realms = new Map<number, AdoptedRealm>();
  #durable: RecordNumber = 0;
  /** The last record of the running checkpoint. */
  #runUpTo: RecordNumber = 0;
  #waitingBytes = 0;
  /** The size of all packs. */
  #packBytes = 0;
  #underWay: Order | null = null;
  #cancelTimer: (() => void) | null = null;
  /** Waiting until the thread has closed a store, in the order in which it was asked. */
  readonly #forgetting: (() => void)[] = [];
  /** Records after it were left in the journal, because the disk was full. */
  #leftUpTo: RecordNumber = Number.POSITIVE_INFINITY;

  constructor(options: CheckpointerOptions) {
    this.#options = options;
    this.#guards = options.owner === null ? [] : [metaRow(ownerKey, options.owner)];
    const { startMaker = startCheckpointThread, fatal } = options;
    this.#maker = startMaker({ noticed: (notice) => this.#noticed(notice), failed: fatal });
  }

  /** Resolves when the thread runs: it needs descriptors to start. */
  get isReady(): Promise<void> {
    return this.#ready.promise;
  }

  /** Size of the records that are not in the stores. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** An upper bound of the memory of these records. */
  get memoryBytes(): number {
    return this.#packBytes + (this.#underWay?.memoryBytes ?? 0);
  }

  /** The stores have all records up to here. */
  get storedUpTo(): RecordNumber {
    let first = Math.min(this.#durable, this.#leftUpTo) + 1;
    for (const { waiting } of this.#realms.values()) first = Math.min(first, waiting[0]?.position ?? first);
    return first - 1;
  }

  adopt(realm: StoredRealm): void {
    this.#realms.set(realm.id, { ...realm, waiting: [], pack: new RecordPack(), onApplied: nothing });
    this.#maker.post({ kind: "open", realmId: realm.id, folder: realm.folder });
  }

  /** The bytes are copied. */
  add(realmId: number, position: RecordNumber, turn: number, record: Uint8Array): void {
    const realm = this.#realms.get(realmId);
    // Otherwise the journal would forget a record that no store has.
    if (realm === undefined) throw new Error(`realm ${realmId} has a turn, but is not open`);
    const before = realm.pack.memoryBytes;
    const bytes = realm.pack.add(record);
    realm.waiting.push({ position, turn, bytes });
    this.#waitingBytes += bytes;
    this.#packBytes += realm.pack.memoryBytes - before;
  }

  /** Records up to here may be brought into the stores. */
  durableUpTo(position: RecordNumber): void {
    this.#durable = position;
    if (!this.#hasDue) return;
    if (this.#options.isUrgent()) this.runNow();
    else this.#runLater();
  }

  /** Does not wait until it is time for a checkpoint. */
  runNow(): void {
    if (!this.#hasDue) return;
    if (this.#options.hasSpace()) this.#run();
    else this.#runLater();
  }

  /** Something durable is not in the stores. */
  get #hasDue(): boolean {
    return this.#waitingBytes > 0 && this.storedUpTo < this.#durable;
  }

  /** On a full disk the records stay in the journal. Nothing is written meanwhile, so they do not become more. */
  #runLater(): void {
    this.#cancelTimer ??= this.#options.after(limits.checkpoint_interval_ms, () => {
      this.#cancelTimer = null;
      if (this.#options.hasSpace()) this.#run();
      else this.#runLater();
    });
  }

  /** The realm's store has every record of it. */
  isStored(realmId: number): boolean {
    return (this.#realms.get(realmId)?.waiting.length ?? 0) === 0;
  }

  /**
   * Resolves when the realm's store has every record of it, and the thread has closed it. All must be durable. A realm
   * whose store lacks nothing is let go at once, so it can be adopted again.
   */
  async release(realmId: number): Promise<void> {
    const realm = this.#realms.get(realmId);
    if (realm === undefined) return;
    while (realm.waiting.length > 0 && this.#options.hasSpace()) {
      const isStored = new Promise<void>((resolve) => {
        realm.onApplied = resolve;
      });
      this.#run();
      await isStored;
    }
    // The journal keeps what does not fit on the disk; the next start brings it into the store.
    const [left] = realm.waiting;
    if (left !== undefined) this.#leftUpTo = Math.min(this.#leftUpTo, left.position - 1);
    this.#realms.delete(realmId);
    this.#packBytes -= realm.pack.memoryBytes;
    await new Promise<void>((resolve) => {
      this.#forgetting.push(resolve);
      this.#maker.post({ kind: "forget", realmId });
    });
  }

  /** Ends the thread. Every realm was released. */
  async end(): Promise<void> {
    this.#cancelTimer?.();
    await this.#maker.end();
  }

  /** Visits the realms one after the other, until the stores have everything that is durable now. */
  #run(): void {
    this.#runUpTo = this.#durable;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    if (this.#underWay === null) this.#goOn();
  }

  #goOn(): void {
    const realm = this.#nextDue();
    if (realm !== null) {
      this.#order(realm, this.#dueOf(realm));
      return;
    }
    // Records that became durable meanwhile wait for the next run.
    if (this.#hasDue) this.#runLater();
  }

  #nextDue(): AdoptedRealm | null {
    for (const realm of this.#realms.values()) {
      const [first] = realm.waiting;
      if (first !== undefined && first.position <= this.#runUpTo) return realm;
    }
    return null;
  }

  #dueOf({ waiting }: AdoptedRealm): WaitingRecord[] {
    const due: WaitingRecord[] = [];
    let bytes = 0;
    for (const record of waiting) {
      if (record.position > this.#runUpTo || bytes >= limits.checkpoint_bytes) break;
      due.push(record);
      bytes += record.bytes;
    }
    return due;
  }

  #order(realm: AdoptedRealm, records: readonly WaitingRecord[]): void {
    const { id: realmId, folder, turn: from } = realm;
    // Behind all others, or those at the end would wait for ever while those at the beginning are due again.
    this.#realms.delete(realmId);
    this.#realms.set(realmId, realm);
    const { turn } = records.at(-1) as WaitingRecord;
    const turnRow = metaRow(turnKey, turn);
    const guards = [...this.#guards, realm.turnRow];
    const before = realm.pack.memoryBytes;
    const pack = realm.pack.take(records.reduce((sum, { bytes }) => sum + bytes, 0));
    this.#packBytes += realm.pack.memoryBytes - before;
    const memory = pack.map(({ buffer }) => buffer);
    const memoryBytes = memory.reduce((sum, { byteLength }) => sum + byteLength, 0);
    this.#underWay = { realm, records: records.length, turn, turnRow, memoryBytes };
    this.#maker.post({ kind: "checkpoint", order: { realmId, folder, from, guards, turnRow, pack } }, memory);
  }

  #noticed(notice: CheckpointNotice): void {
    if (notice.kind === "ready") this.#ready.resolve();
    else if (notice.kind === "checkpointed") this.#checkpointed();
    else if (notice.kind === "forgotten") this.#forgetting.shift()?.();
    else if (notice.kind === "takenOver") this.#options.fatal(takenOver(notice.folder));
    else if (notice.kind === "lost") this.#options.fatal(new OwnershipLost(notice.message));
    else this.#options.fatal(new Error(`a checkpoint failed: ${notice.message}`));
  }

  #checkpointed(): void {
    const order = this.#underWay;
    if (order === null) return;
    this.#underWay = null;
    const { realm, records, turn, turnRow } = order;
    for (const { bytes } of realm.waiting.splice(0, records)) this.#waitingBytes -= bytes;
    realm.turn = turn;
    realm.turnRow = turnRow;
    realm.onCheckpointed(turn);
    if (realm.waiting.length === 0) realm.onApplied();
    this.#options.onProgress(this.#nextDue() === null);
    this.#goOn();
  }
}

function ready() {
  let resolve: () => void = nothing;
  const promise = new Promise<void>((onResolve) => {
    resolve = onResolve;
  });
  return { promise, resolve };
}

function nothing(): void {
  // No caller waits.
}

/** A row of the table `meta` as the store has it. */
function metaRow(key: string, value: unknown): RecordedWrite {
  return { table: "meta", key: nameOfKey(key), bytes: encodeRow("meta", key, { value }) };
}
