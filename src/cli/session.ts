/**
 * How each command of the command line is done: by the running server if there is one, otherwise on the data folder
 * under its lock. Results go to stdout, as lines or as JSON; everything else is one line on stderr and an exit code.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { SingleBar } from "cli-progress";
import type { Static, TObject, TProperties } from "typebox";
import { limits } from "../../schemas/limits.ts";
import { BadConfig, type Config, readConfig } from "../app/config.ts";
import { withStoppedFolder } from "../app/offline-ports.ts";
import { failureCodes, failureOf, oneLine } from "../operate/admin/failures.ts";
import { AdminAddressUnusable } from "../operate/admin/listener.ts";
import { AdminFailure, type AdminOperation, type Progress } from "../operate/admin/operation.ts";
import { execute } from "../operate/admin/operation-routes.ts";
import type { Alarm } from "../runtime/dispatcher.ts";
import { DataFolderInUse } from "../store/root.ts";
import { askServer, whereOf } from "./admin-client.ts";

export interface OutputOptions {
  readonly json?: boolean;
}

/** The output of a command. Problems are printed to stdout, too, and make it fail with the last line. */
export interface Printed {
  readonly lines: readonly string[];
  readonly problem?: string | null;
}

const waitPauseMs = 50;

function warn(line: string): void {
  process.stderr.write(`colloquy: ${oneLine(line)}\n`);
}

export const alarm: Alarm = {
  // A command that throws is refused alone (M6), and the work continues.
  bug: (error) => warn(`a command threw: ${String(error)}`),
  fatal: (error) => exitWith(error),
  warn,
};

export function dataDir(): string {
  return resolve(process.env["DATA_DIR"] || "./data");
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** One line on stderr, and the exit code of its kind (docs/operations.md). */
export function exitWith(error: unknown): never {
  const known = error instanceof BadConfig || error instanceof AdminAddressUnusable;
  const failure = known ? new AdminFailure("unusable", error.message) : failureOf(error);
  const message = failure?.message ?? (error instanceof Error ? error.message : String(error));
  process.stderr.write(`colloquy: ${oneLine(message)}\n`);
  process.exit(failureCodes[failure?.kind ?? "internal"].exitCode);
}

/** Does an operation and shows its result. */
export async function perform<P extends TProperties, R extends object>(
  operation: AdminOperation<P, R>,
  params: Static<TObject<P>>,
  options: OutputOptions,
  shown: (result: R) => Printed,
): Promise<void> {
  const result = await withProgress(options, (progress) => done(operation as AdminOperation, params, progress));
  const { lines, problem = null } = shown(result as R);
  if (options.json === true) say(JSON.stringify(result));
  else for (const line of lines) say(line);
  if (problem !== null) throw new AdminFailure("refused", problem);
}

/** Another process may use the folder for a moment: a server that starts or stops, or another command. */
async function done(operation: AdminOperation, params: object, progress: Progress): Promise<object> {
  const config = readConfig(process.env);
  const folder = dataDir();
  for (let waitedMs = 0; ; waitedMs += waitPauseMs) {
    const asking = { address: config.adminAddress, dataDir: folder, operation, params, progress };
    const answer = await askServer(asking);
    if (answer !== null) return answer;
    try {
      return await withStoppedFolder({ config, dataDir: folder, alarm }, (ports) =>
        execute(operation, params, ports, progress),
      );
    } catch (error) {
      if (!(error instanceof DataFolderInUse)) throw error;
      if (waitedMs >= limits.admin_wait_ms_max || isServing(folder)) throw unreachable(error, config, folder);
    }
    await wait(waitPauseMs);
  }
}

/** The admin listener opens before the process id is written. */
function isServing(folder: string): boolean {
  const idIn = (name: string) => {
    try {
      return readFileSync(join(folder, name), "latin1").trim();
    } catch {
      return "";
    }
  };
  return idIn("server.pid") !== "" && idIn("server.pid") === idIn("lock");
}

function unreachable(error: DataFolderInUse, { adminAddress }: Config, folder: string): AdminFailure {
  const where = whereOf(adminAddress, folder);
  return new AdminFailure(
    "busy",
    `${error.message}, and nothing answers at ${where}: set ADMIN_LISTEN as the server has it, or stop the server`,
  );
}

/** Shows how far the work is, until it has ended. */
export async function withProgress<T>(options: OutputOptions, work: (progress: Progress) => Promise<T>): Promise<T> {
  const bar = progressBar(options);
  try {
    return await work(bar.progress);
  } finally {
    bar.end();
  }
}

/** A progress bar on a terminal, and nothing elsewhere. */
function progressBar({ json }: OutputOptions): { readonly progress: Progress; end(): void } {
  if (json === true || !process.stderr.isTTY) return { progress: () => undefined, end: () => undefined };
  const bar = new SingleBar({ format: "{bar} {value}/{total}", stream: process.stderr, clearOnComplete: true });
  let isStarted = false;
  return {
    progress(count, total) {
      if (!isStarted) bar.start(total ?? count, count);
      else bar.update(count);
      isStarted = true;
    },
    end: () => bar.stop(),
  };
}
