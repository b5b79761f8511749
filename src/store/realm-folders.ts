/**
 * The folders of organizations in a data folder. `realms/<number>` holds a finished organization, always: a new one is made under a
 * draft's name and renamed when all of it is on disk. Only drafts are ever cleared away.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { flushFolderSync } from "./folders.ts";

const draftPrefix = "founding-";

export function realmFolder(dataDir: string, id: number): string {
  return join(dataDir, "realms", String(id));
}

/** In order; folders without data do not count. */
export function realmIdsOnDisk(dataDir: string): number[] {
  return namesIn(join(dataDir, "realms"))
    .filter((name) => /^[1-9]\d*$/.test(name) && holdsData(join(dataDir, "realms", name)))
    .map(Number)
    .sort((a, b) => a - b);
}

/** LMDB's lock file alone is no data. */
function holdsData(folder: string): boolean {
  return namesIn(folder).some((name) => name !== "lock.mdb");
}

/** A folder of its own for an organization that is being made. Clears those that never were finished. */
export function newRealmDraft(dataDir: string): string {
  const realms = join(dataDir, "realms");
  for (const name of namesIn(realms)) {
    if (name.startsWith(draftPrefix)) rmSync(join(realms, name), { recursive: true, force: true });
  }
  return join(realms, `${draftPrefix}${randomBytes(6).toString("hex")}`);
}

/** The organization is there from here on. @throws Error when another one has that id */
export function finishRealmDraft(draft: string, dataDir: string, id: number): void {
  const folder = realmFolder(dataDir, id);
  // All that a folder without data may hold.
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
