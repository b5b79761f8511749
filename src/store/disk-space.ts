/**
 * Room for writes (M5): below a watermark of free space, or over the quota, writes are refused while reads go on, and accepted
 * again when there is room. A ballast file, larger than the largest turn, is given back to the disk when it gets critical, so
 * that a turn that is already decided finds room; it is laid again when there is plenty. A smaller reserve is given back by a start
 * alone: whatever filled the disk meanwhile, a start writes a few pages before it can serve reads.
 */
import { closeSync, fsyncSync, openSync, readdirSync, rmSync, statfsSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../../schemas/limits.ts";

const blockBytes = 1024 * 1024;
const lookEveryMs = 5;
const measureEveryMs = 1000;
const ballastRetryMs = 60_000;

export interface DiskSpaceOptions {
  readonly folder: string;
  /** Below this, writes are refused. */
  readonly freeBytesMin: number;
  /** What all stores together may take; null: as much as the disk has. */
  readonly storeBytesMax: number | null;
  readonly monotonic: () => number;
  /** Bytes of the realms' files, which the quota counts with their stores; absent: there are none. */
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

  /** Not even a start may find room. */
  get isFull(): boolean {
    return attempt(() => freeBytes(this.#options.folder) < limits.store_start_reserve_bytes, false);
  }

  /** Looks at most every few milliseconds: a look costs microseconds, a turn writes at most megabytes. Never throws. */
  acceptsWrites(): boolean {
    const now = this.#options.monotonic();
    if (now - this.#lookedAt > lookEveryMs) {
      this.#lookedAt = now;
      // A disk that cannot even be looked at gets no writes.
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

  /** What cannot be laid is no reason to stop; it is tried again after a while. */
  #keepRoom(): void {
    const now = this.#options.monotonic();
    if (now < this.#ballastAfter) return;
    const isKept =
      keepFile(this.#ballast, limits.store_ballast_bytes) && keepFile(this.#reserve, limits.store_start_reserve_bytes);
    if (!isKept) this.#ballastAfter = now + ballastRetryMs;
  }
}

/** Written, not truncated to size: a sparse file would reserve nothing. One that was cut short is laid anew. */
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

/** Bytes of all realms' stores. */
function storeBytes(folder: string): number {
  return readdirSync(join(folder, "realms"))
    .map((id) => statSync(join(folder, "realms", id, "data.mdb"), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
}
