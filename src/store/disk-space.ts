/**
 * Disk space for writes (M5): below a watermark of free space, or over the quota, writes are rejected and reads
 * continue. The reserved space (reserved-space.ts) covers what was accepted before.
 */
import { statfsSync } from "node:fs";
import { limits } from "../../schemas/limits.ts";
import { ReservedSpace } from "./reserved-space.ts";
import { StoreSize } from "./store-size.ts";

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
