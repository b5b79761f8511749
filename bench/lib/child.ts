// Child processes: starts them, keeps the end of their output for error messages, and stops them. NODE_OPTIONS is
// removed from the environment, because test runners and debuggers would slow down the measured process with it.
// SERVER_NODE_OPTIONS replaces it for the server (to profile it: SERVER_NODE_OPTIONS="--cpu-prof
// --cpu-prof-dir=/tmp/profiles").

import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { CHILD_OUTPUT_BYTES_MAX, STOP_WAIT_MS } from "./limits.ts";

export interface ChildOptions {
  /** The program; Node by default. */
  readonly command?: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Whether to open an IPC channel. */
  readonly channel: boolean;
  /** The account to run as; the caller's by default. */
  readonly account?: Account | null;
  /** The signal for an orderly stop; SIGTERM by default. */
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
  /** True if it had to be killed because it did not exit within STOP_WAIT_MS. */
  readonly killed: boolean;
}

/** Every running child, so that an interrupt can stop them all. */
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

  /** The end of the process's stdout and stderr. */
  get output(): string {
    return this.#output.trim();
  }

  get running(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null && this.process.pid !== undefined;
  }

  /** How the process exited without being stopped, with its last output; null while it runs. */
  get death(): string | null {
    if (this.running) return null;
    const { exitCode, signalCode } = this.process;
    return `code ${exitCode ?? "none"}, signal ${signalCode ?? "none"}, output: ${this.output}`;
  }

  /** Sends SIGTERM or `stopSignal`, then SIGKILL if the process does not exit in time. Can be called again. */
  async stop(): Promise<Exit> {
    if (this.running) this.process.kill(this.#stopSignal);
    const timer = setTimeout(() => this.kill(), STOP_WAIT_MS);
    const exit = await this.exited;
    clearTimeout(timer);
    return exit;
  }

  /** Sends SIGKILL at once. */
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
