/**
 * Room for writes (M5): below a watermark of free space, or over the quota, writes are refused while reads go on, and accepted
 * again when there is room. A ballast file, larger than the largest turn, is given back to the disk when it gets critical, so
 * that a turn that is already decided finds room; it is laid again when there is plenty.
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
  #hasRoom = true;
  #isOverQuota = false;
  #ballastAfter = Number.NEGATIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #measuredAt = Number.NEGATIVE_INFINITY;

  constructor(options: DiskSpaceOptions) {
    this.#options = options;
    this.#ballast = join(options.folder, "ballast");
    this.acceptsWrites();
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
    const { bavail, bsize } = statfsSync(this.#options.folder);
    const free = bavail * bsize;
    if (free < limits.turn_bytes_max) rmSync(this.#ballast, { force: true });
    else if (free > 2 * this.#options.freeBytesMin + limits.store_ballast_bytes) this.#keepBallast();
    return free >= this.#options.freeBytesMin;
  }

  /** A ballast that cannot be laid is no reason to stop; it is tried again after a while. */
  #keepBallast(): void {
    const now = this.#options.monotonic();
    if (now < this.#ballastAfter) return;
    if (attempt(() => this.#layBallast(), false)) return;
    this.#ballastAfter = now + ballastRetryMs;
    attempt(() => rmSync(this.#ballast, { force: true }), undefined);
  }

  /** Written, not truncated to size: a sparse file would reserve nothing. One that was cut short is laid anew. */
  #layBallast(): true {
    const size = statSync(this.#ballast, { throwIfNoEntry: false })?.size ?? 0;
    if (size === limits.store_ballast_bytes) return true;
    const file = openSync(this.#ballast, "w", 0o600);
    try {
      const block = Buffer.alloc(blockBytes, 1);
      for (let written = 0; written < limits.store_ballast_bytes; written += blockBytes) writeSync(file, block);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return true;
  }
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
