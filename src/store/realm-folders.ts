/**
 * The folders of organizations in a data folder. `realms/<number>` always contains a finished organization: a new one
 * is built under a draft name and renamed when all of it is on disk; one that is erased is renamed before it is emptied.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { flushFolderSync } from "./folders.ts";

const stagedPrefix = "founding-";
const erasedSuffix = ".erased";

/** The folders that this process builds; there may be several at once. */
const staged = new Set<string>();

export function realmFolder(dataDir: string, id: number): string {
  return join(dataDir, "realms", folderOf(id));
}

/**
 * The name of an organization's folder.
 * @throws Error for what is no id: it could lead outside the folder
 */
export function folderOf(id: number): string {
  if (!Number.isSafeInteger(id) || id < 1) throw new Error(`${JSON.stringify(id)} is not the id of an organization`);
  return String(id);
}

/** Ascending; folders without data are left out. */
export function realmIdsOnDisk(dataDir: string): number[] {
  return namesIn(join(dataDir, "realms"))
    .filter((name) => /^[1-9]\d*$/.test(name) && holdsData(join(dataDir, "realms", name)))
    .map(Number)
    .sort((a, b) => a - b);
}

/** LMDB's lock file alone does not count as data. */
function holdsData(folder: string): boolean {
  return namesIn(folder).some((name) => name !== "lock.mdb");
}

/** A folder for an organization that is being created. Removes drafts that an earlier process never finished. */
export function stageRealm(dataDir: string): string {
  const realms = join(dataDir, "realms");
  for (const name of namesIn(realms)) {
    if (name.startsWith(stagedPrefix) && !staged.has(name))
      rmSync(join(realms, name), { recursive: true, force: true });
  }
  const made = `${stagedPrefix}${randomBytes(6).toString("hex")}`;
  staged.add(made);
  return join(realms, made);
}

/**
 * From now on the organization exists.
 * @throws Error when another one has that id
 */
export function finishStagedRealm(draft: string, dataDir: string, id: number): void {
  const folder = realmFolder(dataDir, id);
  // A folder without data may contain only this file.
  rmSync(join(folder, "lock.mdb"), { force: true });
  renameSync(draft, folder);
  flushFolderSync(dirname(folder));
}

/** An empty folder stays for each erased organization: it says so if the root is lost. */
export function erasedFolder(dataDir: string, id: number): string {
  return `${realmFolder(dataDir, id)}${erasedSuffix}`;
}

export function erasedIdsOnDisk(dataDir: string): number[] {
  return namesIn(join(dataDir, "realms"))
    .flatMap((name) => /^([1-9]\d*)\.erased$/.exec(name)?.[1] ?? [])
    .map(Number);
}

/** Whether files of an organization are left. */
export function hasErasedFiles(dataDir: string, id: number): boolean {
  return existsSync(realmFolder(dataDir, id)) || namesIn(erasedFolder(dataDir, id)).length > 0;
}

/**
 * Removes the files of an organization that does not exist any more. Interrupted, it can be repeated.
 * @param progress told how far it is
 */
export async function emptyErased(
  dataDir: string,
  id: number,
  progress: (done: number, total: number) => void = () => undefined,
): Promise<void> {
  const folder = realmFolder(dataDir, id);
  const erased = erasedFolder(dataDir, id);
  const empty = async () => {
    const parts = namesIn(erased).flatMap((name) => {
      const part = join(erased, name);
      return [...namesIn(part).map((inside) => join(part, inside)), part];
    });
    for (const [index, part] of parts.entries()) {
      await rm(part, { recursive: true, force: true });
      progress(index + 1, parts.length);
    }
  };
  mkdirSync(erased, { recursive: true, mode: 0o700 });
  await empty();
  // Replaces the empty folder at once. An organization that is only partly removed never has its own name.
  if (existsSync(folder)) renameSync(folder, erased);
  flushFolderSync(dirname(folder));
  await empty();
  flushFolderSync(erased);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}
