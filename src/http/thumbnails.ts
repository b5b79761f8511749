/**
 * Thumbnails of uploaded pictures: made when somebody asks for one, one after the other, and kept in memory up to a bound (S3).
 * They are derived from files that never change, so a restart or an eviction costs only that they are made again. A picture that
 * cannot be decoded is remembered, too: nobody makes the server try it again and again.
 */
import { LRUCache } from "lru-cache";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { BoundedWork } from "./bounded-work.ts";
import type { Pictures } from "./pictures.ts";

/** Reads a whole file; null: it is gone. */
export type ReadFile = () => Promise<Buffer | null>;

export interface ThumbnailBounds {
  readonly cachedBytesMax: number;
  readonly animationBytesMax: number;
}

const defaultBounds: ThumbnailBounds = {
  cachedBytesMax: limits.thumbnails_cached_bytes_max,
  animationBytesMax: limits.thumbnail_animation_bytes_max,
};

/** What an entry counts as on top of its bytes. */
const entryBytes = 512;

export class Thumbnails {
  readonly #pictures: Pictures;
  readonly #animationBytesMax: number;
  readonly #kept: LRUCache<string, Buffer | Refusal>;
  /** Everybody who asks for a thumbnail that is being made gets that one. */
  readonly #making = new Map<string, Promise<Buffer | Refusal>>();
  /** The library's own bound is shared with avatars, which must not wait behind every thumbnail of a channel. */
  readonly #queue = new BoundedWork(1, limits.thumbnails_waiting_max);

  constructor(pictures: Pictures, { cachedBytesMax, animationBytesMax }: ThumbnailBounds = defaultBounds) {
    this.#pictures = pictures;
    this.#animationBytesMax = animationBytesMax;
    this.#kept = new LRUCache({ maxSize: cachedBytesMax, sizeCalculation: weightOf });
  }

  /** WebP. @param file the name of the upload: it changes with the content */
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
