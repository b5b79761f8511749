/**
 * While a backup copies an organization, none of its files is removed: the rows in the copy are of one moment, and the files that
 * they claim are copied after it. The backup says so by a file beside the environment, whose time it renews; a backup that was
 * killed holds nothing for long.
 */
import { rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { limits } from "../../schemas/limits.ts";

function holdFile(realmFolder: string): string {
  return join(realmFolder, "files.hold");
}

/** @returns what ends it */
export async function holdFiles(realmFolder: string): Promise<() => Promise<void>> {
  const file = holdFile(realmFolder);
  await writeFile(file, "", { mode: 0o600 });
  const renew = () => {
    const now = new Date();
    // Without the file, nothing is held: the check of the copy finds what is missing.
    utimes(file, now, now).catch(() => undefined);
  };
  const timer = setInterval(renew, limits.files_hold_ms_max / 6);
  return async () => {
    clearInterval(timer);
    await rm(file, { force: true });
  };
}

/** Whether a backup is copying. */
export async function areFilesHeld(realmFolder: string): Promise<boolean> {
  const found = await stat(holdFile(realmFolder)).catch(() => null);
  return found !== null && Math.abs(Date.now() - found.mtimeMs) < limits.files_hold_ms_max;
}
