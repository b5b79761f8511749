/**
 * A file that is being written while it comes: in pieces, one after the other, flushed at its end. It lies beside its future name
 * until it is claimed (files.ts); given up, it leaves nothing.
 */
import { type FileHandle, open, rename, rm } from "node:fs/promises";

export interface DraftOwner {
  track<T>(work: Promise<T>): Promise<T>;
  count(bytes: number): void;
  /** Whether there is room on the disk (M5): asked before each piece. */
  acceptsWrites(): boolean;
  /** It is gone without a claim. */
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

export class FileDraft {
  readonly #file: FileHandle;
  readonly #path: string;
  readonly #owner: DraftOwner;
  #size = 0;
  #isOpen = true;
  /** Renamed or given up. */
  #isOver = false;
  /** The work before, so that pieces and the end keep their order. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(file: FileHandle, path: string, owner: DraftOwner) {
    this.#file = file;
    this.#path = path;
    this.#owner = owner;
  }

  get size(): number {
    return this.#size;
  }

  /** @returns false when the disk has no room for it (M5) */
  write(bytes: Uint8Array): Promise<boolean> {
    return this.#next(async () => {
      if (!this.#owner.acceptsWrites()) return false;
      await this.#file.writeFile(bytes);
      this.#size += bytes.length;
      this.#owner.count(bytes.length);
      return true;
    }).catch(refuseWhenFull);
  }

  /** Flushes it: from now on it can be claimed. @returns false when the disk has no room for it (M5) */
  finish(): Promise<boolean> {
    return this.#next(async () => {
      await this.#file.sync();
      await this.#close();
      return true;
    }).catch(refuseWhenFull);
  }

  /** Its first bytes, once it is finished. */
  async head(bytesMax: number): Promise<Buffer> {
    const file = await open(this.#path, "r");
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(bytesMax, this.#size)), 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }

  /** It gets its name. */
  renameTo(path: string): Promise<void> {
    return this.#next(async () => {
      await rename(this.#path, path);
      this.#isOver = true;
    });
  }

  /** Removes it, unless it has its name already. */
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
