/**
 * While a backup copies an organization, none of its files is removed: the rows in the copy are of one moment, and the files that
 * they claim are copied after it. The backup says so by a file beside the environment, which names its process; a backup that was
 * killed holds nothing.
 */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isRunning, type Owner, thisProcess } from "./data-lock.ts";

function holdFile(realmFolder: string): string {
  return join(realmFolder, "files.hold");
}

/** @returns what ends it */
export async function holdFiles(realmFolder: string): Promise<() => Promise<void>> {
  const file = holdFile(realmFolder);
  await writeFile(file, JSON.stringify(thisProcess()), { mode: 0o600 });
  return () => rm(file, { force: true });
}

/** Whether a backup is copying. */
export async function areFilesHeld(realmFolder: string): Promise<boolean> {
  const text = await readFile(holdFile(realmFolder), "utf8").catch(() => null);
  if (text === null) return false;
  try {
    return isRunning(JSON.parse(text) as Owner);
  } catch {
    // It is being written at this moment.
    return true;
  }
}
