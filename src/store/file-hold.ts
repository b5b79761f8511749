/**
 * While a backup copies an organization, none of its files is removed: the rows in the copy are of one moment, and the files that
 * they claim are copied after it. Each backup says so by a file of its own beside the environment, which names its process. A backup
 * that was killed holds nothing where its process id can be looked up. Of a process in another container nobody knows whether it
 * runs: it holds until it has not renewed its file for a while.
 */
import { randomBytes } from "node:crypto";
import { readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { limits } from "../../schemas/limits.ts";
import { isRunning, isVisible, type Owner, thisProcess } from "./data-lock.ts";

/** Older programs had one file of this very name for all backups. */
const prefix = "files.hold";

export interface FileHold {
  /** Says that the backup goes on. */
  renew(): Promise<void>;
  release(): Promise<void>;
}

export interface HolderPorts {
  now(): number;
  /** What a person should know though the work goes on. */
  warn(line: string): void;
}

/** Where no file can be made, as on a full disk, the backup goes on: the check of the copy finds what is missing. */
export async function holdFiles(realmFolder: string, { now, warn }: HolderPorts): Promise<FileHold> {
  const file = join(realmFolder, `${prefix}.${randomBytes(8).toString("hex")}`);
  const renew = async () => {
    const seconds = now() / 1000;
    // Nothing to renew where none could be made.
    await utimes(file, seconds, seconds).catch(() => undefined);
  };
  try {
    await writeFile(file, "", { mode: 0o600, flag: "wx" });
    // A full disk may have room for a name alone: then it holds as that of another container.
    await writeFile(file, JSON.stringify(thisProcess())).catch(() => undefined);
  } catch (error) {
    warn(`files that a server removes during this backup may be missing in it: ${String(error)}`);
  }
  await renew();
  return { renew, release: () => rm(file, { force: true }) };
}

/** Whether a backup is copying. What an ended one left behind is removed. */
export async function areFilesHeld(realmFolder: string, now: number): Promise<boolean> {
  const files = (await namesIn(realmFolder)).filter((name) => name.startsWith(prefix));
  const held = await Promise.all(files.map((name) => isHeld(join(realmFolder, name), now)));
  return held.includes(true);
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

async function isHeld(file: string, now: number): Promise<boolean> {
  const owner = await ownerOf(file);
  if (owner !== null && isRunning(owner)) return true;
  const isKnown = owner !== null && isVisible(owner);
  if (!isKnown && (await isRecent(file, now))) return true;
  // Whoever cannot remove it sees next time, too, that it holds nothing.
  await rm(file, { force: true }).catch(() => undefined);
  return false;
}

/** null: it is gone, being written, or was made on a full disk. */
async function ownerOf(file: string): Promise<Owner | null> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Owner | null;
  } catch {
    return null;
  }
}

/** A date in the future is no promise: clocks differ, and go back. */
async function isRecent(file: string, now: number): Promise<boolean> {
  const renewedAt = await stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  );
  return renewedAt !== null && Math.abs(now - renewedAt) <= limits.file_hold_ms;
}
