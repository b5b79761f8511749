/** Real processes: the server as `npm start` runs it, and the command line. Each is ended by its own id at teardown. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { Client } from "./client.ts";
import { readZuliprc, type Teardown } from "./server.ts";

export type Environment = Readonly<Record<string, string>>;

export interface Exited {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The checkout that the tests belong to. */
export const checkout = join(dirname(fileURLToPath(import.meta.url)), "../..");

/**
 * Only the variables of this process's environment that locate programs, and the transport under test, so that other
 * settings of the user who runs the tests have no effect.
 */
function environmentOf(given: Environment): Record<string, string> {
  const { PATH = "", HOME = "", TRANSPORT = "" } = process.env;
  return { PATH, HOME, TRANSPORT, ...given };
}

export class Program {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly exited: Promise<Exited>;
  stdout = "";
  stderr = "";
  #isOver = false;
  #waiter: (() => void) | null = null;

  constructor(t: Teardown, command: string, args: readonly string[], environment: Environment, cwd = checkout) {
    this.#child = spawn(command, args, { cwd, env: environmentOf(environment), stdio: ["ignore", "pipe", "pipe"] });
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.stdout += text;
      this.#waiter?.();
    });
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
      this.#waiter?.();
    });
    this.exited = once(this.#child, "close").then(([code, signal]: unknown[]) => {
      this.#isOver = true;
      this.#waiter?.();
      return {
        code: code as number | null,
        signal: signal as string | null,
        stdout: this.stdout,
        stderr: this.stderr,
      };
    });
    t.teardown(async () => {
      const { stderr } = await this.end("SIGKILL");
      if (/Warning: uWS\./.test(stderr)) throw new Error(`${args.join(" ")} made uWebSockets.js warn: ${stderr}`);
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Closes the reading end of standard error. */
  closeStderr(): void {
    this.#child.stderr.destroy();
  }

  /** @returns false if the process has ended */
  signal(signal: "SIGSTOP" | "SIGCONT" | "SIGHUP"): boolean {
    return !this.#isOver && this.#child.kill(signal);
  }

  /** Sends a signal, unless the process has ended, and waits for the end. */
  end(signal: "SIGTERM" | "SIGINT" | "SIGKILL"): Promise<Exited> {
    if (!this.#isOver) this.#child.kill(signal);
    return this.exited;
  }

  /** The first match in its output, past or future. @throws Error if the process ends without it */
  printed(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#found(pattern, () => this.stdout);
  }

  /** The same for its standard error. */
  complained(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#found(pattern, () => this.stderr);
  }

  async #found(pattern: RegExp, text: () => string): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(text());
      if (match !== null) return match;
      if (this.#isOver) throw new Error(`it ended without ${pattern}: ${this.stdout}${this.stderr}`);
      await new Promise<void>((resolve) => {
        this.#waiter = resolve;
      });
    }
  }
}

export interface ServerProgram {
  readonly program: Program;
  readonly url: string;
  readonly owner: Client;
}

/** `npm start` without npm, on port 0 by default. Resolves when it has printed its address. */
export async function startProgram(
  t: Teardown,
  dataDir: string,
  environment: Environment = {},
  cwd = checkout,
): Promise<ServerProgram> {
  const given = { PORT: "0", RATE_LIMITS: "off", DATA_DIR: dataDir, ...environment };
  const program = new Program(t, process.execPath, ["colloquy.mjs"], given, cwd);
  const [, url = ""] = await program.printed(/is at (\S+)\n[\s\S]*Try: .*\n/);
  const { email, key } = readZuliprc(join(dataDir, "zuliprc"));
  return { program, url, owner: new Client(url, { email, key, userId: 2 }) };
}

/** Runs the command line until it exits. */
export function runCli(t: Teardown, dataDir: string, ...args: readonly string[]): Promise<Exited> {
  return new Program(t, process.execPath, ["colloquy.mjs", ...args], { DATA_DIR: dataDir }).exited;
}
