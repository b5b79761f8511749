/**
 * While a backup copies an organization, the server removes none of its files, because files are copied after the rows
 * that claim them. Each backup creates a hold file that names its process. The hold of a killed backup ends when its
 * process id can be checked; in another container it cannot, so there a hold ends when its file has not been renewed
 * for a while.
 */
import { randomBytes } from "node:crypto";
import { readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { limits } from "../../schemas/limits.ts";
import { isRunning, isVisible, type LockHolder, thisProcess } from "./data-lock.ts";

const prefix = "files.hold";

export interface FileLock {
  /** Renews the hold, because the backup continues. */
  renew(): Promise<void>;
  release(): Promise<void>;
}

export interface FileLockPorts {
  now(): number;
  /** Warns the operator while the work continues. */
  warn(line: string): void;
}

/**
 * If the hold file cannot be created, for example on a full disk, the backup continues: the check of the copy finds
 * missing files.
 * @param isHarmless whether it may continue
 * @throws the error if it may not
 */
export async function lockFiles(
  realmFolder: string,
  { now, warn }: FileLockPorts,
  isHarmless: (error: NodeJS.ErrnoException) => boolean = () => true,
): Promise<FileLock> {
  const file = join(realmFolder, `${prefix}.${randomBytes(8).toString("hex")}`);
  const renew = async () => {
    const seconds = now() / 1000;
    // Fails if the file could not be created, and there is nothing to renew.
    await utimes(file, seconds, seconds).catch(() => undefined);
  };
  try {
    await writeFile(file, "", { mode: 0o600, flag: "wx" });
    // A full disk may have space only for the name. An empty file holds as if its process could not be checked.
    await writeFile(file, JSON.stringify(thisProcess())).catch(() => undefined);
  } catch (error) {
    if (!isHarmless(error as NodeJS.ErrnoException)) throw error;
    warn(`files that a server removes during this backup may be missing in it: ${String(error)}`);
  }
  await renew();
  return { renew, release: () => rm(file, { force: true }) };
}

/** Whether a backup is running, or may be: the folder cannot be read. Hold files of ended backups are removed. */
export async function areFilesLocked(realmFolder: string, now: number): Promise<boolean> {
  const names = await readdir(realmFolder).catch(isMissing);
  if (names === true) return false;
  if (names === false) return true;
  const files = names.filter((name) => name.startsWith(prefix));
  const locked = await Promise.all(files.map((name) => isLocked(join(realmFolder, name), now)));
  return locked.includes(true);
}

function isMissing(error: NodeJS.ErrnoException): boolean {
  return error.code === "ENOENT";
}

async function isLocked(file: string, now: number): Promise<boolean> {
  const owner = await ownerOf(file);
  if (owner !== null && isRunning(owner)) return true;
  const isKnown = owner !== null && isVisible(owner);
  if (!isKnown && (await isRecent(file, now))) return true;
  // If it cannot be removed, the next call will ignore it again.
  await rm(file, { force: true }).catch(() => undefined);
  return false;
}

/** Returns null if the file is gone, being written, or was created on a full disk. */
async function ownerOf(file: string): Promise<LockHolder | null> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as LockHolder | null;
  } catch {
    return null;
  }
}

/** Dates in the future do not count either: clocks differ, and may be set back. A file that cannot be read counts. */
async function isRecent(file: string, now: number): Promise<boolean> {
  const found = await stat(file).catch(isMissing);
  if (typeof found === "boolean") return !found;
  return Math.abs(now - found.mtimeMs) <= limits.file_hold_ms;
}
