/**
 * Files that occupy space on the disk for when it gets full (M5). The reserved space is deleted when space gets critical: the
 * turns that were accepted before still fit into the journal (schemas/limits.ts). Only a start deletes the smaller
 * reserve: even on a full disk it must write a few pages before it can serve reads.
 *
 * They are written beside other work and gently: written in one go, they held a start up for 40 ms on a quiet disk and
 * for 0.4 s on a busy one, and every request when a disk that had been full had space again.
 */
import { constants, rmSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { limits } from "../../schemas/limits.ts";
import { writeGently } from "./gentle-flush.ts";

const pieceBytes = 1024 * 1024;
const retryMs = 60_000;

interface SpareFile {
  readonly path: string;
  readonly bytes: number;
}

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

  /** Frees its space. What is being written ends after the piece that is under way. */
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
      attempt(() => rmSync(file.path, { force: true }));
      if (!signal.aborted) this.#retryAfter = this.#monotonic() + retryMs;
      break;
    }
    this.#writing = null;
  }
}

/** A file of another size was cut short while it was written. */
function isWhole({ path, bytes }: SpareFile): boolean {
  return attempt(() => statSync(path, { throwIfNoEntry: false })?.size === bytes) ?? false;
}

/** In full, because a sparse file would reserve nothing. */
async function writeWhole(spare: SpareFile, signal: AbortSignal): Promise<boolean> {
  const { O_CREAT, O_DSYNC, O_TRUNC, O_WRONLY } = constants;
  try {
    const file = await open(spare.path, O_WRONLY | O_CREAT | O_TRUNC | O_DSYNC, 0o600);
    try {
      await writePieces(file, spare.bytes, signal);
      await file.sync();
    } finally {
      await file.close();
    }
    return isWhole(spare);
  } catch {
    return false;
  }
}

async function writePieces(file: FileHandle, bytes: number, signal: AbortSignal): Promise<void> {
  const piece = Buffer.alloc(pieceBytes, 1);
  for (let at = 0; at < bytes; at += piece.length) {
    signal.throwIfAborted();
    await writeGently(file, piece, at, signal);
  }
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
