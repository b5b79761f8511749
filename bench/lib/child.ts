// Child processes: start, keep the end of their output for error messages, stop by SIGTERM and wait. The environment is
// cleaned of NODE_OPTIONS, with which test runners and debuggers would slow the measured process; SERVER_NODE_OPTIONS takes
// its place for the server (to profile it: SERVER_NODE_OPTIONS="--cpu-prof --cpu-prof-dir=/tmp/profiles").

import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { CHILD_OUTPUT_BYTES_MAX, STOP_WAIT_MS } from "./limits.ts";

export interface ChildOptions {
  /** Node when left out. */
  readonly command?: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Opens an IPC channel. */
  readonly channel: boolean;
  /** Who it runs as; the caller when left out or null. */
  readonly account?: Account | null;
  /** What ends it in good order: SIGTERM when left out. */
  readonly stopSignal?: NodeJS.Signals;
}

/** An account of this machine. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
  /** True when it had to be killed because it did not end in STOP_WAIT_MS. */
  readonly killed: boolean;
}

/** Every process that runs now, so that an interrupt can end them all. */
const running = new Set<Child>();

/** Stops every child and waits for it. */
export async function stopChildren(): Promise<void> {
  await Promise.all([...running].map((child) => child.stop()));
}

export class Child {
  readonly process: ChildProcess;
  readonly exited: Promise<Exit>;
  readonly #stopSignal: NodeJS.Signals;
  #output = "";
  #killed = false;

  constructor(options: ChildOptions) {
    this.#stopSignal = options.stopSignal ?? "SIGTERM";
    const stdio: StdioOptions = options.channel ? ["ignore", "pipe", "pipe", "ipc"] : ["ignore", "pipe", "pipe"];
    this.process = spawn(options.command ?? process.execPath, [...options.arguments], {
      ...options.account,
      cwd: options.folder,
      env: cleanEnvironment(options.environment),
      stdio,
    });
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString("utf8")).slice(-CHILD_OUTPUT_BYTES_MAX);
      });
    }
    this.exited = new Promise((resolve) => {
      this.process.once("error", (error) => {
        this.#output += error.message;
        resolve({ code: null, signal: null, killed: false });
      });
      this.process.once("exit", (code, signal) => {
        running.delete(this);
        resolve({ code, signal, killed: this.#killed });
      });
    });
    running.add(this);
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  /** The end of what the process wrote to stdout and stderr. */
  get output(): string {
    return this.#output.trim();
  }

  get running(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null && this.process.pid !== undefined;
  }

  /** How and with which last words the process ended by itself; null while it runs. */
  get death(): string | null {
    if (this.running) return null;
    const { exitCode, signalCode } = this.process;
    return `code ${exitCode ?? "none"}, signal ${signalCode ?? "none"}, output: ${this.output}`;
  }

  /** SIGTERM or its own signal, then SIGKILL when that has no effect in time. Safe to call again. */
  async stop(): Promise<Exit> {
    if (this.running) this.process.kill(this.#stopSignal);
    const timer = setTimeout(() => this.kill(), STOP_WAIT_MS);
    const exit = await this.exited;
    clearTimeout(timer);
    return exit;
  }

  /** SIGKILL, at once. */
  kill(): void {
    if (!this.running) return;
    this.#killed = true;
    this.process.kill("SIGKILL");
  }
}

function cleanEnvironment(extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => name !== "NODE_OPTIONS" && !/^_*TAP/.test(name));
  return { ...Object.fromEntries(inherited), ...extra };
}
