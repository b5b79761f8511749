/**
 * Names of files and folders are entries of the folder that they lie in, and survive a power cut when that folder was flushed: a file's
 * own flush is not enough (M1).
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

/** The folder and two above it, any of which may be new. Whoever could not make one of them cannot read it either, perhaps. */
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

/** Everything in a folder that was filled by copying: its files, its folders, then itself. One at a time, however many there are. */
export async function flushTree(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    // A file is flushed as a folder is.
    await (entry.isDirectory() ? flushTree(inner) : flushFolder(inner));
  }
  await flushFolder(path);
}
