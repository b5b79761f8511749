/**
 * A file that is written while it arrives: chunk by chunk, and flushed at the end. It is stored next to its final name
 * until it is claimed (files.ts); an abandoned upload leaves nothing.
 */
import { type FileHandle, open, rename, rm } from "node:fs/promises";

export interface StagedUploadOwner {
  track<T>(work: Promise<T>): Promise<T>;
  count(bytes: number): void;
  /** Whether the disk has space (M5); checked before each chunk. */
  acceptsWrites(): boolean;
  /** The upload ended without a claim. */
  ended(): void;
}

export function isNoRoom(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === "ENOSPC" || code === "EDQUOT";
}

function refuseWhenFull(error: unknown): boolean {
  if (isNoRoom(error)) return false;
  throw error;
}

export class StagedUpload {
  readonly #file: FileHandle;
  readonly #path: string;
  readonly #owner: StagedUploadOwner;
  #size = 0;
  #isOpen = true;
  /** Renamed or abandoned. */
  #isOver = false;
  /** The previous operation, so that chunks and the end keep their order. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(file: FileHandle, path: string, owner: StagedUploadOwner) {
    this.#file = file;
    this.#path = path;
    this.#owner = owner;
  }

  get size(): number {
    return this.#size;
  }

  /** @returns false when the disk has no space for it (M5) */
  write(bytes: Uint8Array): Promise<boolean> {
    return this.#next(async () => {
      if (!this.#owner.acceptsWrites()) return false;
      await this.#file.writeFile(bytes);
      this.#size += bytes.length;
      this.#owner.count(bytes.length);
      return true;
    }).catch(refuseWhenFull);
  }

  /**
   * Flushes the file; then it can be claimed.
   * @returns false when the disk has no space for it (M5)
   */
  finish(): Promise<boolean> {
    return this.#next(async () => {
      await this.#file.sync();
      await this.#close();
      return true;
    }).catch(refuseWhenFull);
  }

  /** The first bytes of a finished upload. */
  async head(bytesMax: number): Promise<Buffer> {
    const file = await open(this.#path, "r");
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(bytesMax, this.#size)), 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }

  /** Renames the file to its final name. */
  renameTo(path: string): Promise<void> {
    return this.#next(async () => {
      await rename(this.#path, path);
      this.#isOver = true;
    });
  }

  /** Removes the file, unless it already has its final name. */
  giveUp(): Promise<void> {
    return this.#next(async () => {
      await this.#close();
      if (this.#isOver) return;
      this.#isOver = true;
      await rm(this.#path, { force: true });
      this.#owner.count(-this.#size);
      this.#owner.ended();
    });
  }

  async #close(): Promise<void> {
    if (this.#isOpen) await this.#file.close();
    this.#isOpen = false;
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return this.#owner.track(done);
  }
}
