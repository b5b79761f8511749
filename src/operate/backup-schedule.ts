/**
 * Makes backups by schedule (BACKUP_SCHEDULE), each in a process of its own with a low priority: what a backup reads and
 * hashes takes nothing from the event loop, and a damaged file ends that process and not the server.
 */
import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { Cron } from "croner";
import type { Clock } from "../runtime/clock.ts";

/** Timers of Node have at most 2^31 ms. */
const sleepMsMax = 24 * 60 * 60 * 1000;
const outputCharactersMax = 10_000;

export function isCronPattern(text: string): boolean {
  try {
    return new Cron(text, { paused: true }).nextRun() !== null;
  } catch {
    return false;
  }
}

export interface BackupScheduleOptions {
  readonly pattern: string;
  readonly clock: Pick<Clock, "now" | "after">;
  /** Never rejects. */
  run(): Promise<void>;
}

export class BackupSchedule {
  readonly #options: BackupScheduleOptions;
  readonly #cron: Cron;
  #cancel: () => void = () => undefined;
  #isEnded = false;

  constructor(options: BackupScheduleOptions) {
    this.#options = options;
    this.#cron = new Cron(options.pattern, { paused: true });
    this.#wait(this.#next());
  }

  /** The next time that the pattern names; a backup that takes longer than its interval skips what it missed. */
  #next(): number | null {
    return this.#cron.nextRun(new Date(this.#options.clock.now()))?.getTime() ?? null;
  }

  #wait(at: number | null): void {
    if (at === null || this.#isEnded) return;
    const { clock } = this.#options;
    const delay = Math.min(Math.max(0, at - clock.now()), sleepMsMax);
    this.#cancel = clock.after(delay, () => {
      if (clock.now() < at) this.#wait(at);
      else void this.#options.run().then(() => this.#wait(this.#next()));
    });
  }

  end(): void {
    this.#isEnded = true;
    this.#cancel();
  }
}

export interface CommandTools {
  readonly environment: Readonly<Record<string, string>>;
  readonly log: { info(fields: object, line: string): void; error(fields: object, line: string): void };
}

/** One backup into BACKUP_DIR. The server does not wait for it when it stops: the copy stays consistent. */
export function runBackupProcess(tools: CommandTools): Promise<void> {
  return runCommand(["backup"], "a backup", tools);
}

/** Runs a command of the command line with a low priority. Never rejects. */
export function runCommand(args: readonly string[], what: string, { environment, log }: CommandTools): Promise<void> {
  const { NODE_OPTIONS: _options, ...inherited } = process.env;
  const child = spawn(process.execPath, [commandLine(), ...args], {
    env: { ...inherited, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (child.pid !== undefined) lowerPriority(child.pid);
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    // Without a descriptor for it there is no pipe, and no process: the error follows.
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      output[name] = `${output[name]}${text}`.slice(0, outputCharactersMax);
    });
  }
  return new Promise((done) => {
    child.once("error", (error) => {
      log.error({ err: error }, `${what} could not be started`);
      done();
    });
    child.once("close", (code, signal) => {
      if (code === 0) log.info({ output: output.stdout.trim() }, `${what} is complete`);
      else log.error({ code, signal, why: output.stderr.trim(), output: output.stdout.trim() }, `${what} failed`);
      done();
    });
  });
}

/** A child is like any other process when its priority cannot be changed. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // It has ended, or the system does not allow it.
  }
}

/** Next to the server's program in a build; from the sources, the file that builds it. */
function commandLine(): string {
  const isSource = import.meta.url.endsWith(".ts");
  return fileURLToPath(new URL(isSource ? "../../colloquy.mjs" : "./cli.mjs", import.meta.url));
}
