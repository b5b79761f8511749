/**
 * Erases an organization: its row in the root is removed first, in the transaction that remembers its number, and then
 * everything that it has on disk. A kill before that leaves the organization as it was; a kill after it leaves files
 * that no request can reach, which the next start removes.
 */
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { emptyErased, erasedFolder, erasedIdsOnDisk, hasErasedFiles } from "./realm-folders.ts";
import type { ErasedRealm, RootStore } from "./root.ts";

/**
 * Removes what is left of an organization that the root remembers as erased.
 * @param progress told how far it is
 */
export async function removeErased(
  dataDir: string,
  root: RootStore,
  erased: ErasedRealm,
  progress?: (done: number, total: number) => void,
): Promise<void> {
  removeCredentials(dataDir, root, erased);
  removeEmails(dataDir, erased.id);
  await emptyErased(dataDir, erased.id, progress);
  root.noteErased({ ...erased, label: null });
}

/**
 * Removes the leftovers of interrupted erasures. Files that cannot be removed do not keep organizations from being
 * served.
 */
export async function finishErasures(dataDir: string, root: RootStore, warn: (line: string) => void): Promise<void> {
  for (const id of erasedIdsOnDisk(dataDir)) {
    // The root was lost and rebuilt.
    if (!root.isErased(id)) root.noteErased({ id, at: statSync(erasedFolder(dataDir, id)).mtimeMs, label: null });
  }
  for (const erased of root.erased()) {
    if (erased.label === null && !hasErasedFiles(dataDir, erased.id)) continue;
    try {
      await removeErased(dataDir, root, erased);
    } catch (error) {
      warn(leftBehind(dataDir, erased.id, error));
    }
  }
}

export function leftBehind(dataDir: string, id: number, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return `files of an erased organization are left in ${erasedFolder(dataDir, id)}, because they cannot be removed (${code ?? message}): the next start tries again`;
}

/** Another organization may have the label by now. */
function removeCredentials(dataDir: string, root: RootStore, { label }: ErasedRealm): void {
  const isTaken = root.realms().some((entry) => entry.label === label);
  if (label !== null && label !== "" && !isTaken) rmSync(join(dataDir, `zuliprc.${label}`), { force: true });
}

/** Emails that were written as files (outbound/mail/outbox.ts). */
function removeEmails(dataDir: string, id: number): void {
  const outbox = join(dataDir, "outbox");
  const isOf = new RegExp(`^\\.?${id}-\\d+\\.eml`);
  for (const name of namesIn(outbox)) if (isOf.test(name)) rmSync(join(outbox, name), { force: true });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
