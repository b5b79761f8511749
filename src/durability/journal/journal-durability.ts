/**
 * Durability by the journal: one journal for all realms of the process, an overlay of rows for each realm, and a thread
 * that brings durable records into the stores. docs/adr/0009-journal.md has the drawing.
 */
import { limits } from "../../../schemas/limits.ts";
import type { Histogram } from "../../metrics/instruments.ts";
import { nameOfKey } from "../../store/codec.ts";
import { lmdbOf } from "../../store/lmdb.ts";
import { PathGuard } from "../../store/path-guard.ts";
import { turnKey, turnNumberIn } from "../../store/turn-number.ts";
import type { StartMaker } from "./checkpoint-maker.ts";
import { Checkpointer } from "./checkpointer.ts";
import type { Durability, DurableTables, Lag, RealmTables } from "./durability.ts";
import { type Backlog, BacklogLimit, type BacklogShare, DurabilityGates, onceDurable } from "./durability-gate.ts";
import type { Journal } from "./journal.ts";
import type { JournalArchive } from "./journal-archive.ts";
import { OverlayTables } from "./overlay-tables.ts";

export interface JournalDurabilityOptions {
  readonly journal: Journal;
  /** Null: the journal is copied nowhere. */
  readonly archive: JournalArchive | null;
  /** The token of the process that owns the data folder; null if no other process can write. */
  readonly owner: string | null;
  readonly clock: {
    now(): number;
    monotonic(): number;
    after(milliseconds: number, callback: () => void): () => void;
    /** Runs the callback after what waits now. */
    soon(callback: () => void): void;
  };
  /** Whether a backup is copying the journal: then nothing of it may be forgotten. */
  readonly isLocked: () => Promise<boolean>;
  /** Whether the disk has space for a checkpoint. */
  readonly hasSpace: () => boolean;
  /** A checkpoint failed (M5). Must not return. */
  readonly fatal: (error: unknown) => never;
  readonly reportBug: (error: unknown) => void;
  /** How long the oldest record of a flush waited; absent where it is not read. */
  readonly flushTimes?: Histogram;
  readonly startMaker?: StartMaker;
  /** Shared with the other journals of the process, if there are any. */
  readonly backlog?: BacklogLimit;
  /** As of Durability; by default, no other process can take the journal over unnoticed. */
  readonly assertOwned?: () => void;
  /** Whether anything may leave at all; by default always. In a cluster: whether this node still owns the realms. */
  readonly mayLeave?: () => boolean;
}

export class JournalDurability implements Durability {
  readonly #options: JournalDurabilityOptions;
  readonly #journal: Journal;
  readonly #gates: DurabilityGates;
  readonly #checkpointer: Checkpointer;
  /** Since when records wait for a flush; null if none do. */
  #waitingSince: number | null = null;
  /** When the journal was last asked to forget what the stores have. */
  #releasedAt = Number.NEGATIVE_INFINITY;
  readonly #backlog: BacklogLimit;
  readonly #share: BacklogShare;

  constructor(options: JournalDurabilityOptions) {
    this.#options = options;
    this.#journal = options.journal;
    this.#backlog = options.backlog ?? new BacklogLimit(options.reportBug);
    this.#gates = new DurabilityGates({
      journal: options.journal,
      hasRoom: () => this.#hasRoom(),
      onceRoom: (goOn) => this.#backlog.once(goOn),
      memory: this.#backlog.atGates,
      onLeft: () => this.#backlog.advanced(),
      clock: options.clock,
      reportBug: options.reportBug,
      ...(options.mayLeave === undefined ? {} : { mayLeave: options.mayLeave }),
    });
    this.#checkpointer = new Checkpointer({
      owner: options.owner,
      after: (milliseconds, callback) => options.clock.after(milliseconds, callback),
      hasSpace: options.hasSpace,
      isUrgent: () => this.#backlog.isUrgent,
      fatal: options.fatal,
      onProgress: (isLast) => this.#stored(isLast),
      ...(options.startMaker === undefined ? {} : { startMaker: options.startMaker }),
    });
    const checkpointer = this.#checkpointer;
    const ownBacklog = () => this.#ownBacklog;
    this.#share = this.#backlog.join({
      get backlog() {
        return ownBacklog();
      },
      checkpoint: () => checkpointer.runNow(),
    });
    this.#checkpointer.durableUpTo(options.journal.durable);
    options.journal.onDurable(() => {
      this.#flushed();
      this.#share.count();
      this.#checkpointer.durableUpTo(this.#journal.durable);
      this.#advanced();
      options.archive?.durableUpTo(this.#journal.durable);
    });
    options.archive?.onProgress(() => this.#releaseStored());
  }

  get isReady(): Promise<void> {
    return this.#checkpointer.isReady;
  }

  adopt({ id, folder, tables }: RealmTables): DurableTables {
    const turn = turnNumberIn(lmdbOf(tables));
    const gate = this.#gates.open();
    const place = new PathGuard(tables.file);
    const overlay = new OverlayTables({
      tables,
      turn,
      now: () => this.#options.clock.now(),
      memory: this.#backlog.overlays,
      reads: gate.reads,
      append: (record, written) => {
        // The store would not get the turn if its file is gone, so nothing may be acknowledged (M1).
        place.verify();
        const position = this.#journal.append(id, record);
        this.#options.archive?.appended(record.length);
        this.#waitingSince ??= this.#options.clock.monotonic();
        this.#checkpointer.add(id, position, written.turn, record);
        this.#share.count();
        gate.appended(position, written.tables);
        return position;
      },
    });
    const turnRow = { table: "meta", key: nameOfKey(turnKey), bytes: tables.get("meta", turnKey) ?? null };
    let isDropping = false;
    const dropMore = () => {
      isDropping = overlay.dropStored();
      if (isDropping) this.#options.clock.soon(dropMore);
      else this.#advanced();
    };
    const onCheckpointed = (upTo: number) => {
      const hasMore = overlay.checkpointed(upTo);
      if (!hasMore || isDropping) return;
      isDropping = true;
      this.#options.clock.soon(dropMore);
    };
    this.#checkpointer.adopt({ id, folder, turn, turnRow, onCheckpointed });
    this.#options.archive?.opened(id);
    const checkpointer = this.#checkpointer;
    const advanced = () => this.#advanced();
    return {
      tables: overlay,
      gate,
      get isStored() {
        return gate.isOpen && checkpointer.isStored(id);
      },
      async close() {
        if (!gate.isOpen) await onceDurable(gate);
        await checkpointer.release(id);
        advanced();
      },
    };
  }

  get lag(): Lag {
    return { unflushedBytes: this.#journal.unflushedBytes, uncheckpointedBytes: this.#checkpointer.waitingBytes };
  }

  get #ownBacklog(): Backlog {
    const { waitingBytes: uncheckpointedBytes, memoryBytes: recordMemoryBytes } = this.#checkpointer;
    return { unflushedBytes: this.#journal.unflushedBytes, uncheckpointedBytes, recordMemoryBytes };
  }

  /** The journal or the stores have more than before. */
  #advanced(): void {
    this.#gates.advanced();
    this.#share.count();
    this.#backlog.advanced();
  }

  #flushed(): void {
    const now = this.#options.clock.monotonic();
    if (this.#waitingSince !== null) this.#options.flushTimes?.observe(now - this.#waitingSince);
    // Records that were appended during the flush have waited at most since then.
    this.#waitingSince = this.#journal.unflushedBytes > 0 ? now : null;
  }

  /** An upper bound of the memory of everything that the stores do not have yet. */
  get memoryBytes(): number {
    this.#share.count();
    return this.#backlog.memoryBytes;
  }

  #hasRoom(): boolean {
    this.#share.count();
    return this.#backlog.hasRoom;
  }

  /** The stores have more than before. One realm of many frees little, which is not worth a look for backups. */
  #stored(isLast: boolean): void {
    this.#advanced();
    this.#options.archive?.storedUpTo(this.#checkpointer.storedUpTo);
    const now = this.#options.clock.monotonic();
    if (!isLast && now - this.#releasedAt < limits.checkpoint_interval_ms) return;
    this.#releasedAt = now;
    this.#releaseStored();
  }

  #releaseStored(): void {
    this.#release().catch(this.#options.reportBug);
  }

  archiveMark(): () => boolean {
    const { archive } = this.#options;
    const upTo = this.#journal.appended;
    return () => archive === null || archive.keepsAfter >= upTo;
  }

  assertOwned(): void {
    this.#options.assertOwned?.();
  }

  /** A backup copies the stores, so it has all rows that were stored before it began. */
  async #release(): Promise<void> {
    const upTo = Math.min(this.#checkpointer.storedUpTo, this.#options.archive?.keepsAfter ?? Number.POSITIVE_INFINITY);
    if (!(await this.#options.isLocked())) this.#journal.release(upTo);
  }

  async close(): Promise<void> {
    await this.#checkpointer.end();
    await this.#options.archive?.close();
    await this.#release();
    await this.#journal.close();
    this.#share.leave();
  }
}
