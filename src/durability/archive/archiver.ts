/**
 * The main thread's side of the archive: says when to copy, keeps the journal from forgetting what is not copied, and
 * makes bases. An archive that cannot be written holds up nothing: records wait for it up to a bound, then the journal
 * continues without them, and the archive begins again with new bases once it can be written. Nothing wakes an idle
 * process, except while the archive cannot be written.
 */
import type { Worker } from "node:worker_threads";
import { archiveLimits as limits } from "../../../schemas/limits/archive.ts";
import { storeVersion } from "../../store/migrations.ts";
import type { RealmIdentity } from "../../store/realm-identity.ts";
import type { RecordNumber } from "../journal/journal.ts";
import type { JournalArchive } from "../journal/journal-archive.ts";
import { frameBytes } from "../journal/record.ts";
import { startThread } from "../threads/start-thread.ts";
import type { ArchiveNotice, ArchiveTask } from "./archive-thread.ts";
import type { ArchivePlaces, ArchiveProgress } from "./archive-writer.ts";
import type { BaseOrder, BaseTime } from "./base-copy.ts";
import type { BaseNote } from "./base-manifest.ts";
import type { BaseNotice } from "./base-thread.ts";
import type { ErasedNote } from "./layout.ts";

export interface ArchiverOptions extends ArchivePlaces {
  /** How long times can be restored to; null: for ever. */
  readonly keptDays: number | null;
  readonly baseHours: number;
  /** The records of the journal that the archive does not have at the start. */
  readonly durable: RecordNumber;
  readonly waitingBytes: number;
  readonly clock: { now(): number; after(milliseconds: number, callback: () => void): () => void };
  /** Whether the data folder's disk has space. */
  readonly hasSpace: () => boolean;
  readonly realms: () => readonly RealmIdentity[];
  readonly erased: () => readonly ErasedNote[];
  /** Sets the listener for the erasure of an organization. */
  readonly onErased: (listener: () => void) => void;
  /** Changes whenever there is another organization; cheap. */
  readonly revision: () => number;
  readonly log: { warn(line: string): void; error(line: string): void };
}

/** A copy that the thread was asked for. */
interface CopyOrder {
  readonly upTo: RecordNumber;
  /** As `#appendedBytes` was. */
  readonly bytes: number;
  /** How many erased organizations it noted. */
  readonly erased: number;
}

type State =
  | "working"
  /** The journal has forgotten records that the archive lacks. */
  | "gap"
  /** Another process writes the archive, or it cannot be one: until the next start. */
  | "ended";

const dayMs = 24 * 60 * 60 * 1000;
const hourMs = 60 * 60 * 1000;
const mebibyte = 1024 * 1024;

export class Archiver implements JournalArchive {
  readonly #options: ArchiverOptions;
  readonly #thread: Worker;
  #state: State = "working";
  #durable: RecordNumber;
  /** The stores have all records up to here. */
  #stored: RecordNumber;
  /** The archive has all records up to here. */
  #archived: RecordNumber = 0;
  #appendedBytes: number;
  #archivedBytes = 0;
  /** How many erased organizations the archive knows. */
  #erased = 0;
  #underWay: CopyOrder | null = null;
  #cancelTimer: (() => void) | null = null;
  #failures = 0;
  #progress: ArchiveProgress | null = null;
  #bases: readonly BaseNote[] = [];
  /** As `#appendedBytes` was at the last whole base. */
  #bytesAtBase = 0;
  #base: Worker | null = null;
  #baseFailedAt: number | null = null;
  #cancelBaseTimer: () => void = nothing;
  #realms: readonly RealmIdentity[] = [];
  #revision: number | null = null;
  /** Organizations whose stores have the present form. */
  readonly #opened = new Set<number>();
  #isClosing = false;
  /** Called when something that `close` waits for has ended. */
  #ended: () => void = nothing;
  #listener: () => void = nothing;

  constructor(options: ArchiverOptions) {
    this.#options = options;
    this.#durable = options.durable;
    this.#stored = options.durable;
    this.#appendedBytes = options.waitingBytes;
    const { archive, dataDir, journal } = options;
    this.#thread = startThread("durability/archive/archive-thread", {
      archive,
      dataDir,
      journal,
    } satisfies ArchivePlaces);
    this.#thread.on("message", (notice: ArchiveNotice) => this.#noticed(notice));
    this.#thread.on("error", (error) => this.#end(`its thread failed: ${error.message}`));
    options.onErased(() => this.#copyLater(0));
    this.#copy();
  }

  get keepsAfter(): RecordNumber {
    return this.#state === "working" ? this.#archived : Number.POSITIVE_INFINITY;
  }

  onProgress(listener: () => void): void {
    this.#listener = listener;
  }

  appended(recordBytes: number): void {
    this.#appendedBytes += frameBytes(recordBytes);
  }

  durableUpTo(position: RecordNumber): void {
    this.#durable = position;
    this.#checkBacklog();
    this.#copyLater(limits.archive_interval_ms);
  }

  storedUpTo(position: RecordNumber): void {
    this.#stored = position;
    this.#makeBase();
  }

  opened(realmId: number): void {
    this.#opened.add(realmId);
    // Its organization may be new.
    this.#makeBase();
  }

  /** Copies the last records, if that does not take long. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#cancelBaseTimer();
    let isLate = false;
    const cancel = this.#options.clock.after(limits.archive_end_ms_max, () => {
      isLate = true;
      this.#ended();
    });
    while (!isLate && this.#isBusy) {
      const changed = new Promise<void>((resolve) => {
        this.#ended = resolve;
      });
      this.#copy();
      await changed;
    }
    cancel();
    this.#post({ kind: "end" });
    // A thread that a slow disk holds up must not hold up the end.
    this.#thread.unref();
    this.#base?.unref();
  }

  get #isBusy(): boolean {
    if (this.#base !== null || this.#underWay !== null) return true;
    return this.#state === "working" && this.#failures === 0 && this.#archived < this.#durable;
  }

  #post(task: ArchiveTask): void {
    this.#thread.postMessage(task);
  }

  #copyLater(afterMs: number): void {
    if (this.#state === "ended" || this.#isClosing || this.#underWay !== null) return;
    this.#cancelTimer ??= this.#options.clock.after(afterMs, () => {
      this.#cancelTimer = null;
      this.#copy();
    });
  }

  #copy(): void {
    if (this.#state === "ended" || this.#underWay !== null) return;
    const all = this.#options.erased();
    this.#underWay = { upTo: this.#durable, bytes: this.#appendedBytes, erased: all.length };
    const erased = all.length === this.#erased ? [] : all;
    this.#post({ kind: "copy", upTo: this.#durable, isFresh: this.#state === "gap", erased });
  }

  #noticed(notice: ArchiveNotice): void {
    switch (notice.kind) {
      case "progress":
        if (this.#state === "working") this.#advance(notice.progress);
        return;
      case "copied":
        this.#copied(notice.progress, notice.bases);
        return;
      case "failed":
        this.#failed(notice.message);
        return;
      case "taken":
        this.#end(notice.message);
        return;
      case "notPruned":
        this.#options.log.warn(`old times could not be removed from ${this.#name}: ${notice.message}`);
        return;
      default:
        notice satisfies never;
    }
  }

  get #name(): string {
    return `the archive ${this.#options.archive}`;
  }

  #advance(progress: ArchiveProgress): void {
    this.#progress = progress;
    this.#archived = progress.upTo;
    this.#listener();
  }

  #copied(progress: ArchiveProgress, bases: readonly BaseNote[] | null): void {
    const { bytes, erased } = this.#underWay as CopyOrder;
    this.#underWay = null;
    this.#archivedBytes = bytes;
    this.#erased = erased;
    this.#bases = bases ?? this.#bases;
    const hadFailed = this.#failures > 0;
    this.#failures = 0;
    this.#state = "working";
    this.#advance(progress);
    if (hadFailed) this.#options.log.warn(`${this.#name} is written again`);
    if (this.#durable > progress.upTo || this.#options.erased().length > erased)
      this.#copyLater(limits.archive_interval_ms);
    this.#makeBase();
    this.#ended();
  }

  #failed(message: string): void {
    this.#underWay = null;
    if (++this.#failures === 1) {
      const bound = `${limits.archive_backlog_bytes_max / mebibyte} MiB`;
      this.#options.log.error(
        `${this.#name} cannot be written: ${message}. Up to ${bound} of changes wait for it, and it is tried again.`,
      );
    }
    this.#checkBacklog();
    this.#copyLater(Math.min(limits.archive_interval_ms * 2 ** this.#failures, limits.archive_retry_ms_max));
    this.#ended();
  }

  #end(message: string): void {
    this.#options.log.error(`${this.#name} is not written any more: ${message}. Mend it and start the server again.`);
    this.#underWay = null;
    this.#state = "ended";
    this.#listener();
    this.#ended();
  }

  /** Records wait only as long as there is room for them. */
  #checkBacklog(): void {
    const isOver = this.#appendedBytes - this.#archivedBytes > limits.archive_backlog_bytes_max;
    const isInTheWay = isOver || (this.#failures > 0 && !this.#options.hasSpace());
    if (this.#state !== "working" || !isInTheWay) return;
    const why = isOver ? `more than ${limits.archive_backlog_bytes_max / mebibyte} MiB of changes` : "the full disk";
    this.#options.log.error(
      `${this.#name} has a gap because of ${why}: times from now on can be restored to after its next base, which is made when it can be written.`,
    );
    this.#state = "gap";
    this.#listener();
  }

  #makeBase(): void {
    const order = this.#baseOrder();
    if (order === null) return;
    if (order.isWhole) this.#bytesAtBase = this.#appendedBytes;
    try {
      this.#base = startThread("durability/archive/base-thread", order);
    } catch (error) {
      this.#baseFailed((error as Error).message);
      return;
    }
    this.#base.on("message", (notice: BaseNotice) => this.#baseNoticed(notice));
    this.#base.on("error", (error) => this.#baseFailed(error.message));
    this.#base.on("exit", () => {
      this.#base = null;
      this.#makeBase();
      this.#ended();
    });
  }

  /** Null if no base is due, or none can be made now. */
  #baseOrder(): BaseOrder | null {
    const { clock, hasSpace, archive, dataDir } = this.#options;
    const progress = this.#progress;
    if (progress === null || this.#base !== null || this.#isClosing) return null;
    if (this.#state !== "working" || this.#failures > 0 || this.#stored < progress.start || !hasSpace()) return null;
    if (this.#baseFailedAt !== null && clock.now() - this.#baseFailedAt < limits.archive_retry_ms_max) return null;
    this.#listRealms();
    const isWhole = this.#isWholeDue();
    const realms = isWhole ? this.#realms : this.#realms.filter((realm) => this.#lacks(realm));
    if (realms.length === 0) return null;
    const { generation, owner } = progress;
    const identities = realms.map(({ id, label, hosts, createdAt }) => ({ id, label, hosts, createdAt }));
    return { archive, dataDir, generation, owner, realms: identities, isWhole, from: this.#stored };
  }

  #listRealms(): void {
    const revision = this.#options.revision();
    if (revision === this.#revision) return;
    this.#revision = revision;
    this.#realms = this.#options.realms();
  }

  #isWholeDue(): boolean {
    const last = this.#bases.findLast(({ isWhole }) => isWhole);
    if (last === undefined || this.#appendedBytes - this.#bytesAtBase > limits.archive_base_records_bytes_max) {
      return true;
    }
    const isOld = this.#options.clock.now() - last.at >= this.#options.baseHours * hourMs;
    return isOld && this.#archived > last.upTo;
  }

  /** It is newer than the bases, or has been upgraded since. */
  #lacks({ id }: RealmIdentity): boolean {
    const copies = this.#bases.flatMap(({ realms }) => realms.filter((realm) => realm.id === id));
    const last = copies.at(-1);
    return last === undefined || (last.storeVersion !== storeVersion && this.#opened.has(id));
  }

  #baseNoticed(notice: BaseNotice): void {
    if (notice.kind === "copied") {
      const time: BaseTime = { upTo: this.#durable, at: this.#options.clock.now() };
      this.#base?.postMessage(time);
    } else if (notice.kind === "failed") this.#baseFailed(notice.message);
    else this.#baseMade(notice.generation, notice.base);
  }

  #baseMade(generation: number, base: BaseNote): void {
    this.#baseFailedAt = null;
    if (generation !== this.#progress?.generation) return;
    this.#bases = [...this.#bases, base];
    const { keptDays, clock } = this.#options;
    if (base.isWhole && keptDays !== null) this.#post({ kind: "prune", before: clock.now() - keptDays * dayMs });
  }

  #baseFailed(message: string): void {
    if (this.#baseFailedAt === null) {
      this.#options.log.error(`${this.#name} got no new base: ${message}. It is tried again.`);
    }
    const { clock } = this.#options;
    this.#baseFailedAt = clock.now();
    this.#cancelBaseTimer();
    this.#cancelBaseTimer = clock.after(limits.archive_retry_ms_max, () => this.#makeBase());
  }
}

function nothing(): void {
  // No caller waits.
}
