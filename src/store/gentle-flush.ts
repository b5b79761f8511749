/**
 * Flushes large copies in small pieces with pauses. A copy is in memory first; flushed in one go, 80 MB held up
 * flushes of the journal on the same busy disk for a third of a second.
 */
import { constants } from "node:fs";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { limits } from "../../schemas/limits.ts";
import { dataFile } from "./data-file.ts";
import { flushFolder } from "./folders.ts";

const storeName = basename(dataFile(""));

/** As `flushTree`, beside a server that uses the disk. No other writer may have the files open. */
export async function flushTreeGently(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) await flushTreeGently(inner);
    else if (await isInMemory(inner)) await flushFileGently(inner);
    else await flushFolder(inner);
  }
  await flushFolder(path);
}

/** Whether a file is large, and may still be in the system's memory only. */
async function isInMemory(path: string): Promise<boolean> {
  if ((await stat(path)).size <= limits.flush_piece_bytes) return false;
  return basename(path) !== storeName || !(await takesDirectWrites(path));
}

/**
 * LMDB copies a store with O_DIRECT, past the system's memory, where the file system takes that. To flush such a copy
 * costs little.
 */
async function takesDirectWrites(path: string): Promise<boolean> {
  // Not every system has it.
  const direct: number | undefined = constants.O_DIRECT;
  if (direct === undefined) return false;
  try {
    const file = await open(path, constants.O_RDONLY | direct);
    await file.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EINVAL") return false;
    throw error;
  }
}

/**
 * Writes each piece once more as it is: with O_DSYNC a write flushes its own range of the file, for which Node has no
 * call.
 */
async function flushFileGently(path: string): Promise<void> {
  const file = await open(path, constants.O_RDWR | constants.O_DSYNC);
  try {
    await flushChunks(file);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function flushChunks(file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  const chunk = Buffer.allocUnsafe(limits.flush_piece_bytes);
  for (let at = 0; at < size; at += chunk.length) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    await writeGently(file, chunk.subarray(0, bytesRead), at);
  }
}

/** Writes a piece of a file that was opened with O_DSYNC, and then leaves the disk to others for a while. */
export async function writeGently(file: FileHandle, chunk: Buffer, at: number, signal?: AbortSignal): Promise<void> {
  const startedAt = performance.now();
  await file.write(chunk, 0, chunk.length, at);
  // The disk works for others most of the time.
  const tookMs = performance.now() - startedAt;
  await pause(Math.min(limits.flush_pause_ms_max, limits.flush_pause_ratio * tookMs), undefined, { signal });
}
