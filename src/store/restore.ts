/**
 * Restores a backup into an empty data folder, which may be a mount point. The data is built inside it under a name
 * that a start rejects, and then renamed, the root last. An interruption at any moment, even by a power cut, leaves a
 * folder that no start mistakes for an empty one.
 */
import { cpSync, type Dirent, existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type BackupPorts, restoreFolder, stepsOf } from "./backup.ts";
import { type RealmSummary, readManifest, removeManifest, summaries, verifyFiles } from "./backup-manifest.ts";
import { archiveNoteFile } from "./data-file.ts";
import { FolderLock } from "./folder-lock.ts";
import { flushFolderSync, flushFoldersTo, flushTree } from "./folders.ts";
import { RootStore } from "./root.ts";

/** Entries that an empty folder may have: a file system's own, and the lock of a rejected start. */
const ignored = new Set(["lost+found", "lock"]);

export function restoringFolder(dataDir: string): string {
  return join(dataDir, "restoring");
}

/** Brings what a journal has into the stores of a folder: a copy of a data folder may have one, a backup has none. */
export type ApplyRecords = (folder: string) => Promise<void>;

export interface RestoreTools extends Pick<BackupPorts, "progress"> {
  readonly applyRecords: ApplyRecords;
}

/**
 * @returns what was revived
 * @throws Error when there is no backup, it differs from its manifest, the target is not empty, or the copy fails; the
 *   target is then unchanged
 */
export async function restoreBackup(backup: string, dataDir: string, tools: RestoreTools): Promise<RealmSummary[]> {
  if (!existsSync(join(backup, "root", "data.mdb"))) throw new Error(`${backup} is not a backup`);
  refuseLinks(backup);
  const files = new Set((readManifest(backup)?.files ?? []).map(({ path }) => join(backup, path)));
  const step = stepsOf(tools, 2 * files.size);
  const copied = (source: string) => {
    if (files.has(source)) step();
    return true;
  };
  const copy = async (staged: string) => {
    for (const name of entriesOf(backup))
      cpSync(join(backup, name), join(staged, name), { recursive: true, filter: copied });
  };
  return restoreCopy(backup, copy, dataDir, { ...tools, step });
}

/**
 * @param backup how messages name it
 * @param copy fills the folder that it is given with the backup
 */
export async function restoreCopy(
  backup: string,
  copy: (staged: string) => Promise<void>,
  dataDir: string,
  { applyRecords, step, ...tools }: RestoreTools & { readonly step?: () => void },
): Promise<RealmSummary[]> {
  let revived: RealmSummary[] = [];
  await restoreInto(dataDir, async (staged) => {
    await copy(staged);
    const steps = step ?? stepsOf(tools, readManifest(staged)?.files.length ?? 1);
    revived = await openCopy(backup, staged, applyRecords, steps);
  });
  return revived;
}

/**
 * @param build fills the folder that it is given, which exists
 * @throws Error when the target is not empty, or the work fails; the target is then unchanged
 */
export async function restoreInto(dataDir: string, build: (staged: string) => Promise<void>): Promise<void> {
  const isNew = !existsSync(dataDir);
  if (!isNew && entriesOf(dataDir).length > 0) throw new Error(`${dataDir} is not empty`);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const staged = restoringFolder(dataDir);
  const lock = FolderLock.take(dataDir);
  try {
    mkdirSync(staged, { mode: 0o700 });
    // Flushed before anything is in it: from now on no start takes the folder for an empty one.
    flushFoldersTo(dataDir);
    await build(staged);
    await flushTree(staged);
    await moveOut(staged, dataDir);
  } catch (error) {
    // Entries that were already moved stay, together with the draft: a start rejects both.
    if (entriesOf(dataDir).every((name) => join(dataDir, name) === staged))
      rmSync(staged, { recursive: true, force: true });
    if (isNew && entriesOf(dataDir).length === 0) rmSync(dataDir, { recursive: true, force: true });
    throw error;
  } finally {
    lock.release();
  }
}

/**
 * Only files and folders, as in a tar file: a link could bring a file of this machine into the data, or lead out of it.
 * Entries that are removed meanwhile, as in the archive of a running server, are left out.
 * @throws Error that names the first other entry
 */
export function refuseLinks(folder: string): void {
  for (const entry of foundIn(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) refuseLinks(path);
    else if (!entry.isFile()) throw new Error(`${path} is neither a file nor a folder. Remove it.`);
  }
}

function foundIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function entriesOf(folder: string): string[] {
  return readdirSync(folder).filter((name) => !ignored.has(name));
}

async function openCopy(
  backup: string,
  staged: string,
  applyRecords: ApplyRecords,
  step: () => void,
): Promise<RealmSummary[]> {
  if (!existsSync(join(staged, "root", "data.mdb"))) throw new Error(`${backup} is not a backup`);
  const manifest = readManifest(staged);
  const [difference, ...more] = manifest === null ? [] : await verifyFiles(staged, manifest, step);
  if (difference !== undefined) {
    const others = more.length === 0 ? "" : ` (and ${more.length} more differences)`;
    throw new Error(`${backup} is damaged: ${difference}${others}. Use another backup.`);
  }
  removeManifest(staged);
  await applyRecords(staged);
  for (const name of ["journal", archiveNoteFile]) rmSync(join(staged, name), { recursive: true, force: true });
  const root = RootStore.open(staged);
  try {
    if (root.realms().length === 0) throw new Error(`${backup} holds no organization`);
    root.forgetOwner();
    await restoreFolder(root, staged);
    return await summaries(staged, root.realms());
  } finally {
    await root.close();
  }
}

async function moveOut(staged: string, dataDir: string): Promise<void> {
  const move = (name: string) => renameSync(join(staged, name), join(dataDir, name));
  for (const name of entriesOf(staged)) if (name !== "root") move(name);
  for (const folder of [dataDir, staged]) flushFolderSync(folder);
  move("root");
  for (const folder of [dataDir, staged]) flushFolderSync(folder);
  rmdirSync(staged);
  flushFoldersTo(dataDir);
}
