/**
 * CLI commands for copies of the data: backup, restore, check. They work in their own process, beside the server.
 *
 * Verifies a backup that was made earlier, perhaps on another machine.
 */
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Command as Program } from "commander";
import { readConfig } from "../app/config.ts";
import { withLockedRoot } from "../app/offline-ports.ts";
import { breakChain } from "../durability/archive/base-chain.ts";
import { restoreArchive } from "../durability/archive/restore-archive.ts";
import { parseRestoreTime } from "../durability/archive/restore-plan.ts";
import { applyJournal } from "../durability/journal/apply-journal.ts";
import { JournalDamaged } from "../durability/journal/journal.ts";
import { AdminFailure, type Progress } from "../operate/admin/operation.ts";
import {
  BackupProblems,
  backupToFolder,
  backupToNext,
  backupToTar,
  checkRunning,
  type MadeBackup,
  unpackTar,
} from "../operate/backup-run.ts";
import { systemClock } from "../runtime/clock.ts";
import { type BackupPorts, checkFolder, checkRealms, stepsOf } from "../store/backup.ts";
import {
  type BackupManifest,
  type RealmSummary,
  readManifest,
  summaries,
  summaryLines,
  verifyFiles,
} from "../store/backup-manifest.ts";
import { damageIn } from "../store/damage.ts";
import { realmFolder } from "../store/realm-folders.ts";
import { refuseLinks, restoreBackup, restoreCopy } from "../store/restore.ts";
import { DataFolderInUse, RootStore } from "../store/root.ts";
import { setAsideUnreadable } from "../store/unreadable-keys.ts";
import { addCommand } from "./commands.ts";
import { alarm, dataDir, type OutputOptions, say, withProgress } from "./session.ts";

/**
 * Compares a backup with its manifest, and reads everything in it.
 * @param tools.progress told how far it is
 * @throws Error when it is not a backup, or has links
 */
async function verifyBackup(
  folder: string,
  tools: Pick<BackupPorts, "progress"> = {},
): Promise<{ manifest: BackupManifest | null; problems: string[] }> {
  if (!existsSync(join(folder, "root", "data.mdb"))) throw new Error(`${folder} is not a backup`);
  refuseLinks(folder);
  const manifest = readManifest(folder);
  const step = stepsOf(tools, (manifest?.files.length ?? 0) + (manifest?.realms.length ?? 1));
  const differences = manifest === null ? [] : await verifyFiles(folder, manifest, step);
  if (differences.length > 0) return { manifest, problems: differences };
  const root = RootStore.make(folder);
  const locks = [join(folder, "root"), ...root.realms().map(({ id }) => realmFolder(folder, id))];
  try {
    const problems = await checkRealms(root.realms(), folder, { checked: step, leftOut: () => undefined });
    return { manifest, problems };
  } finally {
    await root.close();
    for (const lock of locks) rmSync(join(lock, "lock.mdb"), { force: true });
  }
}

interface BackupOptions extends OutputOptions {
  readonly output?: string;
  readonly verify?: string;
}

interface CheckOptions extends OutputOptions {
  readonly repair?: boolean;
}

interface RestoreOptions extends OutputOptions {
  readonly to?: string;
}

export function addBackupCommands(program: Program): void {
  addCommand(program, "backup")
    .description(
      "copy all data, compacted and consistent, and verify the copy; without a place, to the next folder in BACKUP_DIR",
    )
    .argument("[folder]", "must not exist yet")
    .option("--output <file>", "make a tar file instead; - is standard output")
    .option(
      "--verify <backup>",
      "make none: compare a backup (folder or tar file) with its manifest, and read everything in it",
    )
    .action(backUp);

  addCommand(program, "restore")
    .description(
      "restore a backup, or a moment of an archive, into an empty DATA_DIR; earlier event queues become invalid",
    )
    .argument(
      "<backup>",
      "what `backup` made: a folder, a tar file, or - for a tar file on standard input; with --to an ARCHIVE_DIR, whose server may be running",
    )
    .option("--to <time>", "the moment: ISO 8601 with a time zone, Unix seconds, or latest")
    .action(restore);

  addCommand(program, "check")
    .description("read every row of every organization, and check indexes and files against their rows")
    .option("--repair", "set rows aside whose keys cannot be read; the server must be stopped")
    .action(check);
}

async function backUp(folder: string | undefined, options: BackupOptions): Promise<void> {
  const { output, verify, json } = options;
  if ([folder, output, verify].filter((given) => given !== undefined).length > 1)
    throw new AdminFailure("usage", "give a folder, --output or --verify");
  if (verify !== undefined) return verifyOne(verify, options);
  let made: MadeBackup;
  try {
    made = await withProgress(options, (progress) => makeBackup({ folder, output, progress }));
  } catch (error) {
    if (error instanceof BackupProblems) for (const problem of error.problems) say(problem);
    throw error;
  }
  if (output === "-") return;
  if (json === true) say(JSON.stringify(made));
  else say(`backup is at ${made.backup}`);
}

interface BackupOrder {
  readonly folder: string | undefined;
  readonly output: string | undefined;
  readonly progress: Progress;
}

function makeBackup({ folder, output, progress }: BackupOrder): Promise<MadeBackup> {
  const tools = { dataDir: dataDir(), warn: alarm.warn, progress };
  if (output !== undefined) return backupToTar(tools, output);
  if (folder !== undefined) return backupToFolder(tools, folder);
  const { backupDir, backupKeep } = readConfig(process.env);
  if (backupDir === null) throw new AdminFailure("usage", "give a folder or --output, or set BACKUP_DIR");
  return backupToNext(tools, resolve(backupDir), backupKeep);
}

async function verifyOne(given: string, options: BackupOptions): Promise<void> {
  const { manifest, problems } = await withProgress(options, (progress) =>
    isFolder(given) ? verifyBackup(resolve(given), { progress }) : verifyTar(given, progress),
  );
  const made = manifest === null ? [] : [`made at ${manifest.createdAt}`, ...summaryLines(manifest.realms)];
  const warning = manifest === null ? [`${given} has no manifest: it is not finished`] : [];
  if (options.json !== true) for (const line of [...made, ...warning]) say(line);
  const result = { backup: given, createdAt: manifest?.createdAt ?? null, realms: manifest?.realms ?? null };
  report(problems, options, result, ["no problems"], given);
}

async function verifyTar(file: string, progress: Progress) {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-verify-"));
  try {
    await unpack(file, folder);
    return await verifyBackup(folder, { progress });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function unpack(file: string, folder: string): Promise<void> {
  try {
    await unpackTar(file, folder);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOSPC") throw error;
    throw new AdminFailure("input", `${file === "-" ? "standard input" : file} cannot be unpacked: ${code ?? message}`);
  }
}

/** A path that does not exist counts as a folder; its reader reports it. */
function isFolder(path: string): boolean {
  return path !== "-" && statSync(path, { throwIfNoEntry: false })?.isFile() !== true;
}

async function restore(from: string, options: RestoreOptions): Promise<void> {
  if (options.to !== undefined) return restoreMoment(from, options.to, options);
  const realms = await withProgress(options, (progress) => {
    const tools = { applyRecords: applyJournal, progress };
    return isFolder(from)
      ? restoreBackup(resolve(from), dataDir(), tools)
      : restoreCopy(from, (staged) => unpack(from, staged), dataDir(), tools);
  });
  revived(realms, [], options, {}, "");
}

async function restoreMoment(archive: string, to: string, options: OutputOptions): Promise<void> {
  const time = parseRestoreTime(to);
  if (time === null) throw new AdminFailure("usage", `--to ${to} is not a time such as 2026-11-24T12:00:00Z`);
  const { at, problems } = await withProgress(options, (progress) =>
    restoreArchive(resolve(archive), dataDir(), time, progress),
  );
  const moment = new Date(at).toISOString();
  const root = RootStore.open(dataDir());
  try {
    revived(await summaries(dataDir(), root.realms()), problems, options, { at: moment }, ` as it was at ${moment}`);
  } finally {
    await root.close();
  }
}

function revived(
  realms: readonly RealmSummary[],
  problems: readonly string[],
  options: OutputOptions,
  more: object,
  when: string,
): void {
  const lines = [`restored to ${dataDir()}${when}`, ...summaryLines(realms)];
  if (options.json !== true) for (const line of lines) say(line);
  report(problems, options, { restored: dataDir(), ...more, realms }, [], dataDir());
}

async function check(options: CheckOptions): Promise<void> {
  const repairs = options.repair === true;
  const repaired: string[] = [];
  const beforeCheck = async (root: RootStore) => void repaired.push(...(await repair(root)));
  const problems = await withProgress(options, (progress) => checked(progress, repairs ? beforeCheck : null));
  if (options.json !== true) for (const line of repaired) say(line);
  report(problems, options, repairs ? { repaired } : {}, ["no problems"], null);
}

/** @returns one line for each row that was set aside */
async function repair(root: RootStore): Promise<string[]> {
  const at = new Date(systemClock.now()).toISOString();
  const lines: string[] = [];
  for (const { id } of root.realms()) {
    try {
      // The archive would not notice the changes.
      const setAside = await setAsideUnreadable(realmFolder(dataDir(), id), at, () => breakChain(dataDir()));
      lines.push(...setAside.map((line) => `realm ${id}: ${line}`));
    } catch (error) {
      // The check that follows reports it.
      if (damageIn(error) === null) throw error;
    }
  }
  return lines;
}

/** Under the lock if no server runs, otherwise in copies of the stores. */
async function checked(
  progress: Progress,
  beforeCheck: ((root: RootStore) => Promise<void>) | null,
): Promise<string[]> {
  try {
    const tools = { config: readConfig(process.env), dataDir: dataDir(), alarm };
    return await withLockedRoot(tools, async (root) => {
      await beforeCheck?.(root);
      return checkFolder(root, dataDir(), progress);
    });
  } catch (error) {
    if (error instanceof DataFolderInUse && beforeCheck === null)
      return checkRunning({ dataDir: dataDir(), warn: alarm.warn, progress });
    // An error that keeps the folder from being opened is a finding of the check, too.
    if (error instanceof JournalDamaged) return [error.message];
    const damage = damageIn(error);
    if (damage === null) throw error;
    return [damage.message];
  }
}

/** Problems are part of the result, and make the command fail. */
function report(
  problems: readonly string[],
  { json }: OutputOptions,
  result: object,
  done: readonly string[],
  where: string | null,
): void {
  if (json === true) say(JSON.stringify({ ...result, problems }));
  else for (const problem of problems) say(problem);
  if (problems.length > 0)
    throw new AdminFailure("refused", `${problems.length} problems${where === null ? "" : ` in ${where}`}`);
  if (json !== true) for (const line of done) say(line);
}
