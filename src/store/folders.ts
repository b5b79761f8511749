/**
 * A file's name is an entry of its folder, and survives a power cut only once that folder was flushed: flushing the
 * file itself is not enough (M1).
 */
import { closeSync, fsyncSync, openSync } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";

export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

export function flushFolderSync(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/**
 * Flushes the folder and the two above it, any of which may be new. A parent that this process could not have created
 * may be unreadable, and is skipped.
 */
export function flushFoldersTo(path: string): void {
  flushFolderSync(path);
  for (const above of [dirname(path), dirname(dirname(path))]) {
    try {
      flushFolderSync(above);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
    }
  }
}

/**
 * Flushes a folder that was filled by copying: its files, its folders, then itself. One at a time, to bound open files.
 */
export async function flushTree(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    // Flushing a file works like flushing a folder.
    await (entry.isDirectory() ? flushTree(inner) : flushFolder(inner));
  }
  await flushFolder(path);
}
