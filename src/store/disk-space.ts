/**
 * Disk space for writes (M5): below a watermark of free space, or over the quota, writes are rejected and reads
 * continue. The reserved space covers what was accepted before.
 */
import { constants, existsSync, readdirSync, rmSync, statfsSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { limits } from "../../schemas/limits.ts";
import { dataFile } from "./data-file.ts";
import { writeGently } from "./gentle-flush.ts";

const pieceBytes = 1024 * 1024;
const retryMs = 60_000;

interface SpareFile {
  readonly path: string;
  readonly bytes: number;
}

/**
 * Files that occupy space on the disk for when it gets full (M5). The reserved space is deleted when space gets critical: the
 * turns that were accepted before still fit into the journal (schemas/limits.ts). Only a start deletes the smaller
 * reserve: even on a full disk it must write a few pages before it can serve reads.
 *
 * They are written beside other work and gently: written in one go, they held a start up for 40 ms on a quiet disk and
 * for 0.4 s on a busy one, and every request when a disk that had been full had space again.
 */
export class ReservedSpace {
  readonly #reservedSpace: SpareFile;
  readonly #reserve: SpareFile;
  readonly #monotonic: () => number;
  #writing: Promise<void> | null = null;
  #end = new AbortController();
  #isClosed = false;
  #retryAfter = Number.NEGATIVE_INFINITY;

  constructor(folder: string, monotonic: () => number) {
    this.#reservedSpace = { path: join(folder, "reserved-space"), bytes: limits.store_reserved_bytes };
    this.#reserve = { path: join(folder, "reserve"), bytes: limits.store_start_reserve_bytes };
    this.#monotonic = monotonic;
  }

  /** Begins to write what is missing. If that fails, the server continues and tries again later. */
  keep(): void {
    if (this.#isClosed || this.#writing !== null || this.#monotonic() < this.#retryAfter) return;
    const missing = [this.#reserve, this.#reservedSpace].filter((file) => !isWhole(file));
    if (missing.length > 0) this.#writing = this.#write(missing);
  }

  /** Frees its space. A running write ends after its current chunk. */
  release(): void {
    this.#end.abort();
    rmSync(this.#reservedSpace.path, { force: true });
  }

  /** Frees also what only a start may use. */
  releaseForStart(): void {
    this.release();
    rmSync(this.#reserve.path, { force: true });
  }

  /** A file that is not whole by now is deleted; the next start writes it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#end.abort();
    await this.#writing;
  }

  async #write(missing: readonly SpareFile[]): Promise<void> {
    this.#end = new AbortController();
    const { signal } = this.#end;
    for (const file of missing) {
      if (await writeWhole(file, signal)) continue;
      tried(() => rmSync(file.path, { force: true }));
      if (!signal.aborted) this.#retryAfter = this.#monotonic() + retryMs;
      break;
    }
    this.#writing = null;
  }
}

/** A file of another size was cut short while it was written. */
function isWhole({ path, bytes }: SpareFile): boolean {
  return tried(() => statSync(path, { throwIfNoEntry: false })?.size === bytes) ?? false;
}

/** In full, because a sparse file would reserve nothing. */
async function writeWhole(spare: SpareFile, signal: AbortSignal): Promise<boolean> {
  const { O_CREAT, O_DSYNC, O_TRUNC, O_WRONLY } = constants;
  try {
    const file = await open(spare.path, O_WRONLY | O_CREAT | O_TRUNC | O_DSYNC, 0o600);
    try {
      await writeChunks(file, spare.bytes, signal);
      await file.sync();
    } finally {
      await file.close();
    }
    return isWhole(spare);
  } catch {
    return false;
  }
}

async function writeChunks(file: FileHandle, bytes: number, signal: AbortSignal): Promise<void> {
  const chunk = Buffer.alloc(pieceBytes, 1);
  for (let at = 0; at < bytes; at += chunk.length) {
    signal.throwIfAborted();
    await writeGently(file, chunk, at, signal);
  }
}

function tried<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/**
 * The size of all stores and of the journal, for the quota. It is measured in passes: asked for at once, the sizes of
 * 10,000 stores held every request up for 40 ms or more.
 */
class StoreSize {
  readonly #folder: string;
  /** The result of the last complete pass. */
  #bytes: number | null = null;
  #counted = 0;
  #rest: string[] = [];

  constructor(folder: string) {
    this.#folder = folder;
  }

  get isInPass(): boolean {
    return this.#rest.length > 0;
  }

  /** Begins or continues a pass. The first one, at the start of a server, is made as a whole. */
  measure(): number {
    if (this.#bytes === null) return this.#finish(this.#begin());
    if (!this.isInPass) this.#rest = this.#begin();
    for (const path of this.#rest.splice(-limits.store_sizes_per_look)) this.#counted += sizeOf(path);
    return this.isInPass ? this.#bytes : this.#finish([]);
  }

  #begin(): string[] {
    this.#counted = 0;
    return [...storeFiles(this.#folder), ...journalFiles(this.#folder)];
  }

  #finish(rest: readonly string[]): number {
    for (const path of rest) this.#counted += sizeOf(path);
    this.#bytes = this.#counted;
    return this.#bytes;
  }
}

function storeFiles(folder: string): string[] {
  return readdirSync(join(folder, "realms")).map((id) => dataFile(join(folder, "realms", id)));
}

function journalFiles(folder: string): string[] {
  const journal = join(folder, "journal");
  return existsSync(journal) ? readdirSync(journal).map((name) => join(journal, name)) : [];
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

const lookEveryMs = 5;
const measureEveryMs = 1000;

export interface DiskSpaceOptions {
  readonly folder: string;
  /** Below this, writes are rejected. */
  readonly freeBytesMin: number;
  /** Quota for all stores together; null means the whole disk. */
  readonly storeBytesMax: number | null;
  readonly monotonic: () => number;
  /** Bytes of the realms' files, which count towards the quota; absent means none. */
  readonly fileBytes?: () => number;
}

export class DiskSpace {
  readonly #options: DiskSpaceOptions;
  readonly #reservedSpace: ReservedSpace;
  readonly #storeSize: StoreSize;
  #hasRoom = true;
  #isOverQuota = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #measuredAt = Number.NEGATIVE_INFINITY;

  constructor(options: DiskSpaceOptions) {
    this.#options = options;
    this.#reservedSpace = new ReservedSpace(options.folder, options.monotonic);
    this.#storeSize = new StoreSize(options.folder);
    if (this.isFull) this.#reservedSpace.release();
    if (this.isFull) this.#reservedSpace.releaseForStart();
  }

  /** Even a start may not find enough space. */
  get isFull(): boolean {
    return attempt(() => freeBytes(this.#options.folder) < limits.store_start_reserve_bytes, false);
  }

  /**
   * Checks at most every few milliseconds: a check takes microseconds, and a turn writes at most megabytes. Never
   * throws.
   */
  acceptsWrites(): boolean {
    const now = this.#options.monotonic();
    if (now - this.#lookedAt > lookEveryMs) {
      this.#lookedAt = now;
      // If the disk cannot even be checked, writes are rejected.
      this.#hasRoom = attempt(() => this.#look(), false);
      if (this.#options.storeBytesMax !== null) this.#isOverQuota = this.#exceeds(this.#options.storeBytesMax, now);
    }
    return this.#hasRoom && !this.#isOverQuota;
  }

  #exceeds(quota: number, now: number): boolean {
    if (!this.#storeSize.isInPass && now - this.#measuredAt <= measureEveryMs) return this.#isOverQuota;
    this.#measuredAt = now;
    const files = this.#options.fileBytes?.() ?? 0;
    return attempt(() => this.#storeSize.measure(), 0) + files > quota;
  }

  #look(): boolean {
    const free = freeBytes(this.#options.folder);
    if (free < limits.turn_bytes_max) this.#reservedSpace.release();
    else if (free > 2 * this.#options.freeBytesMin + limits.store_reserved_bytes) this.#reservedSpace.keep();
    return free >= this.#options.freeBytesMin;
  }

  /** Nothing is written into the folder any more. */
  close(): Promise<void> {
    return this.#reservedSpace.close();
  }
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function attempt<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
