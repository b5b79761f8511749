/** CLI commands for copies of the data: backup, restore, check. They work in their own process, beside the server. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Command as Program } from "commander";
import { AdminFailure } from "./admin/operation.ts";
import { restoreArchive } from "./archive/restore-archive.ts";
import { parseRestoreTime } from "./archive/restore-plan.ts";
import { addCommand } from "./cli-commands.ts";
import { alarm, dataDir, type OutputOptions, say } from "./cli-session.ts";
import { readConfig } from "./config.ts";
import { journalPorts, settleFolder } from "./journal/settle-folder.ts";
import { requireStore, withLockedRoot } from "./offline-ports.ts";
import { systemClock } from "./runtime/clock.ts";
import { backupFolder, checkFolder } from "./store/backup.ts";
import { restoreBackup } from "./store/restore.ts";
import { RootStore } from "./store/root.ts";

export function addBackupCommands(program: Program): void {
  addCommand(program, "backup")
    .description("copy all data, compacted and consistent, to a new folder")
    .argument("<folder>", "must not exist yet")
    .action(async (folder: string, options: OutputOptions) => {
      if (existsSync(folder)) throw new AdminFailure("output", `${folder} exists already`);
      const holder = { now: systemClock.now, warn: alarm.warn };
      const ports = { ...holder, ...journalPorts(dataDir(), holder) };
      const target = resolve(folder);
      const problems = await withRoot((root) => backupFolder(root, dataDir(), target, ports));
      report(problems, options, { backup: target }, `backup is at ${target}`, `${target}: keep an older backup`);
    });

  addCommand(program, "restore")
    .description(
      "restore a backup, or a moment of an archive, into an empty DATA_DIR; earlier event queues become invalid",
    )
    .argument(
      "<folder>",
      "a folder written by `backup`, or with --to the ARCHIVE_DIR of a server, which may be running",
    )
    .option("--to <time>", "the moment: ISO 8601 with a time zone, Unix seconds, or latest")
    .action(async (folder: string, options: OutputOptions & { readonly to?: string }) => {
      if (options.to === undefined) {
        await restoreBackup(resolve(folder), dataDir(), settleFolder);
        report([], options, { restored: dataDir() }, `restored to ${dataDir()}`, dataDir());
        return;
      }
      const time = parseRestoreTime(options.to);
      if (time === null)
        throw new AdminFailure("usage", `--to ${options.to} is not a time such as 2026-11-24T12:00:00Z`);
      const { at, problems } = await restoreArchive(resolve(folder), dataDir(), time);
      const moment = new Date(at).toISOString();
      if (options.json !== true) say(`restored to ${dataDir()} as it was at ${moment}`);
      report(problems, options, { restored: dataDir(), at: moment }, null, dataDir());
    });

  addCommand(program, "check")
    .description(
      "read every row of every organization and check indexes against their rows (the server must not be running)",
    )
    .action(async (options: OutputOptions) => {
      const tools = { config: readConfig(process.env), dataDir: dataDir(), alarm };
      const problems = await withLockedRoot(tools, (root) => checkFolder(root, dataDir()));
      report(problems, options, {}, "no problems", null);
    });
}

async function withRoot<T>(work: (root: RootStore) => Promise<T>): Promise<T> {
  requireStore(dataDir());
  const root = RootStore.open(dataDir());
  try {
    return await work(root);
  } finally {
    await root.close();
  }
}

/** Problems are part of the result, and make the command fail. */
function report(
  problems: readonly string[],
  { json }: OutputOptions,
  result: object,
  done: string | null,
  where: string | null,
): void {
  if (json === true) say(JSON.stringify({ ...result, problems }));
  else for (const problem of problems) say(problem);
  if (problems.length > 0)
    throw new AdminFailure("refused", `${problems.length} problems${where === null ? "" : ` in ${where}`}`);
  if (json !== true && done !== null) say(done);
}
