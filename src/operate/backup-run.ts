/** Makes backups: to a folder, to a tar file or a pipe, or to the next place in BACKUP_DIR. Never in the server's process. */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { create, extract } from "tar";
import { journalPorts } from "../durability/journal/apply-journal.ts";
import { systemClock } from "../runtime/clock.ts";
import { backupFolder, checkDuringService } from "../store/backup.ts";
import { type RealmSummary, readManifest } from "../store/backup-manifest.ts";
import { hasEnded } from "../store/data-lock.ts";
import { FolderLock } from "../store/folder-lock.ts";
import { flushFolderSync } from "../store/folders.ts";
import { RootStore } from "../store/root.ts";
import { AdminFailure } from "./admin/operation.ts";
import { requireStore } from "./closed-store.ts";

/** In DATA_DIR: when a backup last succeeded, for the metric. A restored folder has none. */
export const lastBackupName = "last-backup.json";

export interface BackupTools {
  readonly dataDir: string;
  readonly warn: (line: string) => void;
  /** Called with the progress; absent where it is not shown. */
  readonly progress?: (done: number, total: number) => void;
}

export interface MadeBackup {
  readonly backup: string;
  readonly realms: readonly RealmSummary[];
}

/** @throws BackupProblems when the copy has problems; it stays, without a manifest */
export async function backupToFolder(tools: BackupTools, folder: string): Promise<MadeBackup> {
  const target = resolve(folder);
  if (existsSync(target)) throw new AdminFailure("output", `${folder} exists already`);
  const made = await filled(tools, target);
  noteSuccess(tools, target);
  return made;
}

async function filled(tools: BackupTools, target: string): Promise<MadeBackup> {
  const { dataDir } = tools;
  const root = openRoot(dataDir);
  try {
    const problems = await backupFolder(root, dataDir, target, portsOf(tools));
    if (problems.length === 0) return { backup: target, realms: readManifest(target)?.realms ?? [] };
    throw new BackupProblems(problems, target);
  } finally {
    await root.close();
  }
}

/** The findings of the check of a copy. */
export class BackupProblems extends AdminFailure {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], target: string) {
    super("refused", `${problems.length} problems in ${target}: keep an older backup`);
    this.problems = problems;
  }
}

function portsOf({ dataDir, warn, progress }: BackupTools) {
  const holder = { now: systemClock.now, warn };
  return { ...holder, ...journalPorts(dataDir, holder), ...(progress === undefined ? {} : { progress }) };
}

function openRoot(dataDir: string): RootStore {
  requireStore(dataDir);
  return RootStore.open(dataDir);
}

/**
 * The folder is made and verified next to the file, which gets its name when all of it is on disk.
 * @param output `-` is standard output; then the folder is made in DATA_DIR
 */
export async function backupToTar(tools: BackupTools, output: string): Promise<MadeBackup> {
  const isPipe = output === "-";
  const file = resolve(output);
  if (!isPipe && existsSync(file)) throw new AdminFailure("output", `${output} exists already`);
  const staged = isPipe
    ? join(tools.dataDir, `${draftPrefix}${process.pid}`)
    : `${file}.${randomBytes(4).toString("hex")}`;
  if (isPipe) removeLeftovers(tools.dataDir);
  try {
    const made = await filled(tools, staged);
    const packed = create({ cwd: staged, portable: true }, readdirSync(staged).sort());
    if (isPipe) await pipeline(packed, process.stdout);
    else await writeWhole(packed, file, `${staged}.tar`);
    noteSuccess(tools, isPipe ? "-" : file);
    return { ...made, backup: isPipe ? "-" : file };
  } finally {
    for (const path of [staged, `${staged}.tar`]) rmSync(path, { recursive: true, force: true });
  }
}

/** Copies in DATA_DIR, each named after its process. */
const draftPrefix = "copy-";

/** A folder in DATA_DIR for copies that this process makes and removes. */
export function makeCopiesFolder(dataDir: string): string {
  removeLeftovers(dataDir);
  const copies = join(dataDir, `${draftPrefix}${process.pid}`);
  mkdirSync(copies, { mode: 0o700 });
  return copies;
}

/** Removes the leftovers of killed processes. */
function removeLeftovers(dataDir: string): void {
  for (const name of readdirSync(dataDir).filter((one) => one.startsWith(draftPrefix))) {
    const pid = Number(name.slice(draftPrefix.length).split(".")[0]);
    if (hasEnded(pid)) rmSync(join(dataDir, name), { recursive: true, force: true });
  }
}

async function writeWhole(packed: AsyncIterable<Buffer>, file: string, draft: string): Promise<void> {
  await pipeline(packed, createWriteStream(draft, { mode: 0o600 }));
  const written = openSync(draft, "r+");
  fsyncSync(written);
  closeSync(written);
  renameSync(draft, file);
  flushFolderSync(dirname(file));
}

/** Only files and folders: a link in a tar file could lead out of the folder. */
export async function unpackTar(input: string, target: string): Promise<void> {
  const filter = (_path: string, entry: { readonly type?: unknown }) =>
    entry.type === "File" || entry.type === "Directory" || entry.type === "OldFile";
  const unpacking = extract({ cwd: target, strict: true, filter: filter as () => boolean, preserveOwner: false });
  await pipeline(input === "-" ? process.stdin : createReadStream(input), unpacking);
}

const finished = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/;
const partial = "partial-";

/**
 * The next backup in BACKUP_DIR, named after its time. Older ones are removed when it is complete: all but the newest
 * `keep`.
 */
export async function backupToNext(tools: BackupTools, backupDir: string, keep: number): Promise<MadeBackup> {
  // The server does not create it: where it is missing, a disk may not be mounted.
  if (!existsSync(backupDir)) throw new AdminFailure("output", `BACKUP_DIR=${backupDir} does not exist`);
  requireStore(tools.dataDir);
  const lock = FolderLock.take(tools.dataDir, "backup");
  try {
    // Removes the leftovers of killed backups: no other backup is running now.
    for (const name of readdirSync(backupDir).filter((one) => one.startsWith(partial)))
      rmSync(join(backupDir, name), { recursive: true, force: true });
    const name = new Date(systemClock.now())
      .toISOString()
      .replace(/\.\d+Z$/, "Z")
      .replaceAll(":", "-");
    const target = join(backupDir, name);
    if (existsSync(target)) throw new AdminFailure("busy", `${target} exists already: try again in a second`);
    const draft = join(backupDir, `${partial}${name}`);
    try {
      const made = await filled(tools, draft);
      renameSync(draft, target);
      flushFolderSync(backupDir);
      noteSuccess(tools, target);
      removeOld(backupDir, keep);
      return { ...made, backup: target };
    } catch (error) {
      rmSync(draft, { recursive: true, force: true });
      throw error;
    }
  } finally {
    lock.release();
  }
}

function removeOld(backupDir: string, keep: number): void {
  const all = readdirSync(backupDir)
    .filter((name) => finished.test(name))
    .sort();
  for (const name of all.slice(0, Math.max(0, all.length - keep))) {
    // Renamed first: an interrupted removal leaves nothing that looks like a backup.
    const gone = join(backupDir, `${partial}${basename(name)}`);
    renameSync(join(backupDir, name), gone);
    rmSync(gone, { recursive: true, force: true });
  }
}

/** A backup is good without the note: the disk of DATA_DIR may be full. */
function noteSuccess({ dataDir, warn }: BackupTools, backup: string): void {
  const file = join(dataDir, lastBackupName);
  try {
    writeFileSync(`${file}.new`, `${JSON.stringify({ at: systemClock.now(), backup })}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch (error) {
    rmSync(`${file}.new`, { force: true });
    const { code, message } = error as NodeJS.ErrnoException;
    warn(`the backup is complete, but its time could not be noted in ${file}: ${code ?? message}`);
  }
}

/** The rows are checked in copies of the stores, so the disk of DATA_DIR needs space for them. */
export async function checkRunning(tools: BackupTools): Promise<string[]> {
  const { dataDir } = tools;
  const root = openRoot(dataDir);
  const copies = makeCopiesFolder(dataDir);
  try {
    return await checkDuringService(root, dataDir, copies, portsOf(tools));
  } finally {
    rmSync(copies, { recursive: true, force: true });
    await root.close();
  }
}
