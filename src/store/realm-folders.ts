/**
 * The folders of organizations in a data folder. `realms/<number>` always contains a finished organization: a new one
 * is built under a draft name and renamed when all of it is on disk. Only drafts are ever removed.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { flushFolderSync } from "./folders.ts";

const stagedPrefix = "founding-";

/** Of this process, which may build several at once. */
const staged = new Set<string>();

export function realmFolder(dataDir: string, id: number): string {
  return join(dataDir, "realms", String(id));
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

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}
