/**
 * Disk space for writes (M5): below a watermark of free space, or over the quota, writes are rejected and reads
 * continue. A ballast file is deleted when space gets critical: the turns that were accepted before still fit into the
 * journal (schemas/limits.ts). Only a start deletes the smaller reserve: even on a full disk it must write a few pages
 * before it can serve reads.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { limits } from "../../schemas/limits.ts";

const blockBytes = 1024 * 1024;
const lookEveryMs = 5;
const measureEveryMs = 1000;
const ballastRetryMs = 60_000;

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
  readonly #ballast: string;
  readonly #reserve: string;
  #hasRoom = true;
  #isOverQuota = false;
  #ballastAfter = Number.NEGATIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #measuredAt = Number.NEGATIVE_INFINITY;

  constructor(options: DiskSpaceOptions) {
    this.#options = options;
    this.#ballast = join(options.folder, "ballast");
    this.#reserve = join(options.folder, "reserve");
    for (const kept of [this.#ballast, this.#reserve]) if (this.isFull) rmSync(kept, { force: true });
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
    }
    if (this.#options.storeBytesMax !== null && now - this.#measuredAt > measureEveryMs) {
      this.#measuredAt = now;
      const files = this.#options.fileBytes?.() ?? 0;
      this.#isOverQuota = attempt(() => storeBytes(this.#options.folder), 0) + files > this.#options.storeBytesMax;
    }
    return this.#hasRoom && !this.#isOverQuota;
  }

  #look(): boolean {
    const free = freeBytes(this.#options.folder);
    if (free < limits.turn_bytes_max) rmSync(this.#ballast, { force: true });
    else if (free > 2 * this.#options.freeBytesMin + limits.store_ballast_bytes) this.#keepRoom();
    return free >= this.#options.freeBytesMin;
  }

  /** If a file cannot be created, the server continues and tries again later. */
  #keepRoom(): void {
    const now = this.#options.monotonic();
    if (now < this.#ballastAfter) return;
    const isKept =
      keepFile(this.#ballast, limits.store_ballast_bytes) && keepFile(this.#reserve, limits.store_start_reserve_bytes);
    if (!isKept) this.#ballastAfter = now + ballastRetryMs;
  }
}

/** Written in full, because a sparse file would reserve nothing. A truncated file is written again. */
function keepFile(path: string, bytes: number): boolean {
  const isKept = attempt(() => {
    if (statSync(path, { throwIfNoEntry: false })?.size === bytes) return true;
    const file = openSync(path, "w", 0o600);
    try {
      const block = Buffer.alloc(blockBytes, 1);
      for (let written = 0; written < bytes; written += blockBytes) writeSync(file, block);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return true;
  }, false);
  if (!isKept) attempt(() => rmSync(path, { force: true }), undefined);
  return isKept;
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

/** Total size of all realms' stores and of the journal in bytes. */
function storeBytes(folder: string): number {
  const stores = readdirSync(join(folder, "realms")).map((id) => join(folder, "realms", id, "data.mdb"));
  const journal = join(folder, "journal");
  const segments = existsSync(journal) ? readdirSync(journal).map((name) => join(journal, name)) : [];
  return [...stores, ...segments]
    .map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
}
