/**
 * Puts a backup into an empty data folder. It is built inside the folder, which may be a mount point, under a name that a start
 * rejects, and its entries are renamed at the end, the root last. Interrupted at any moment, by a power cut, too, it leaves a
 * folder that no start takes for an empty one.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { restoreFolder } from "./backup.ts";
import { FolderLock } from "./folder-lock.ts";
import { flushFolderSync, flushFoldersTo, flushTree } from "./folders.ts";
import { RootStore } from "./root.ts";

/** In an empty folder all the same: a file system's own, and the lock of a start that was rejected. */
const ignored = new Set(["lost+found", "lock"]);

export function restoringFolder(dataDir: string): string {
  return join(dataDir, "restoring");
}

/** @throws Error when there is no backup, the target is not empty, or the copy fails: the target is as before then */
export async function restoreBackup(backup: string, dataDir: string): Promise<void> {
  const isNew = !existsSync(dataDir);
  if (!isNew && entriesOf(dataDir).length > 0) throw new Error(`${dataDir} is not empty`);
  if (!existsSync(join(backup, "root", "data.mdb"))) throw new Error(`${backup} is no backup`);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = restoringFolder(dataDir);
  const lock = FolderLock.take(dataDir);
  try {
    await buildDraft(backup, draft, dataDir);
    await moveOut(draft, dataDir);
  } catch (error) {
    // What has been moved out stays, and the draft with it: a start rejects both.
    if (entriesOf(dataDir).every((name) => join(dataDir, name) === draft))
      rmSync(draft, { recursive: true, force: true });
    if (isNew && entriesOf(dataDir).length === 0) rmSync(dataDir, { recursive: true, force: true });
    throw error;
  } finally {
    lock.release();
  }
}

function entriesOf(folder: string): string[] {
  return readdirSync(folder).filter((name) => !ignored.has(name));
}

async function buildDraft(backup: string, draft: string, dataDir: string): Promise<void> {
  mkdirSync(draft, { mode: 0o700 });
  // Before there is anything in it: from here on, no start takes the folder for an empty one.
  flushFoldersTo(dataDir);
  for (const name of entriesOf(backup)) cpSync(join(backup, name), join(draft, name), { recursive: true });
  const root = RootStore.open(draft);
  try {
    if (root.realms().length === 0) throw new Error(`${backup} holds no organization`);
    root.forgetOwner();
    await restoreFolder(root, draft);
  } finally {
    await root.close();
  }
  await flushTree(draft);
}

async function moveOut(draft: string, dataDir: string): Promise<void> {
  const move = (name: string) => renameSync(join(draft, name), join(dataDir, name));
  for (const name of entriesOf(draft)) if (name !== "root") move(name);
  for (const folder of [dataDir, draft]) flushFolderSync(folder);
  move("root");
  for (const folder of [dataDir, draft]) flushFolderSync(folder);
  rmdirSync(draft);
  flushFoldersTo(dataDir);
}
