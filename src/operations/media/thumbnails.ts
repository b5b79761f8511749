/**
 * Thumbnails of uploaded pictures, made on request one at a time and cached in memory up to a bound (S3). They derive
 * from immutable files, so after a restart or an eviction they are simply made again. A picture that cannot be decoded
 * is cached as such, so that it is not tried again and again.
 */
import { LRUCache } from "lru-cache";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import { BoundedWork } from "../../runtime/bounded-work.ts";
import type { Pictures } from "./pictures.ts";

/** Reads a whole file; null if it was removed. */
export type ReadFile = () => Promise<Buffer | null>;

export interface ThumbnailBounds {
  readonly cachedBytesMax: number;
  readonly animationBytesMax: number;
}

const defaultBounds: ThumbnailBounds = {
  cachedBytesMax: limits.thumbnails_cached_bytes_max,
  animationBytesMax: limits.thumbnail_animation_bytes_max,
};

/** Overhead that is counted per entry. */
const entryBytes = 512;

export class Thumbnails {
  readonly #pictures: Pictures;
  readonly #animationBytesMax: number;
  readonly #kept: LRUCache<string, Buffer | Refusal>;
  /** Concurrent requests for the same thumbnail share one job. */
  readonly #making = new Map<string, Promise<Buffer | Refusal>>();
  /** `Pictures` has its own bound, shared with avatars; they must not wait behind all thumbnails of a channel. */
  readonly #queue = new BoundedWork(1, limits.thumbnails_waiting_max);

  constructor(pictures: Pictures, { cachedBytesMax, animationBytesMax }: ThumbnailBounds = defaultBounds) {
    this.#pictures = pictures;
    this.#animationBytesMax = animationBytesMax;
    this.#kept = new LRUCache({ maxSize: cachedBytesMax, sizeCalculation: weightOf });
  }

  /**
   * Returns WebP.
   * @param file the stored name of the upload, which changes with its content
   */
  get(file: string, isAnimated: boolean, read: ReadFile): Promise<Buffer | Refusal> {
    const key = `${file}${isAnimated ? "-anim" : ""}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) return Promise.resolve(kept);
    const making = this.#making.get(key) ?? this.#makeAndKeep(key, isAnimated, read);
    this.#making.set(key, making);
    return making;
  }

  async #makeAndKeep(key: string, isAnimated: boolean, read: ReadFile): Promise<Buffer | Refusal> {
    try {
      const made = (await this.#queue.run(() => this.#make(isAnimated, read))) ?? refuse.overloaded();
      if (Buffer.isBuffer(made) || made.code === "BAD_REQUEST") this.#kept.set(key, made);
      return made;
    } finally {
      this.#making.delete(key);
    }
  }

  async #make(isAnimated: boolean, read: ReadFile): Promise<Buffer | Refusal> {
    const bytes = await read();
    if (bytes === null) return refuse.notFound("File not found");
    if (isAnimated) {
      const moving = await this.#pictures.thumbnail(bytes, true);
      if (Buffer.isBuffer(moving) && moving.length <= this.#animationBytesMax) return moving;
    }
    return this.#pictures.thumbnail(bytes, false);
  }
}

function weightOf(kept: Buffer | Refusal): number {
  return entryBytes + (Buffer.isBuffer(kept) ? kept.length : 0);
}
