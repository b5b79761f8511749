/**
 * Runs the server under strace, to observe its system calls or to make them fail. Needs strace and permission to trace.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { Client } from "./client.ts";
import { checkout, type Environment, Program, type ServerProgram } from "./process.ts";
import { readZuliprc, type Teardown } from "./server.ts";

/** The tracer is a grandchild, so that signals go to the server itself. */
const always = ["-D", "-f"];

/** Why tracing is impossible here; null: it is possible. */
export function tracingObstacle(): string | null {
  const tried = spawnSync("strace", [...always, "-o", "/dev/null", "true"], { encoding: "utf8" });
  if (tried.error !== undefined) return "strace is not installed";
  return tried.status === 0 ? null : `strace may not trace here: ${tried.stderr.trim()}`;
}

export interface TracedOptions {
  readonly dataDir: string;
  /** The file of the trace. */
  readonly file: string;
  /** Flags of strace, e.g. the calls to trace. */
  readonly flags: readonly string[];
  readonly environment?: Environment;
  /** Another checkout than this one. */
  readonly cwd?: string;
}

/** The server on port 0 under strace, which it need not survive. It is built before, untraced. */
export function traced(t: Teardown, { dataDir, file, flags, environment, cwd = checkout }: TracedOptions): Program {
  const built = spawnSync(process.execPath, ["colloquy.mjs", "build"], { cwd, encoding: "utf8" });
  if (built.status !== 0) throw new Error(`${cwd} could not be built: ${built.stderr}`);
  const given = { PORT: "0", RATE_LIMITS: "off", DATA_DIR: dataDir, ...environment };
  return new Program(t, "strace", [...always, ...flags, "-o", file, process.execPath, "colloquy.mjs"], given, cwd);
}

/** The same; resolves when the server has printed its address. */
export async function startTraced(t: Teardown, options: TracedOptions): Promise<ServerProgram> {
  const program = traced(t, options);
  const [, url = ""] = await program.printed(/is at (\S+)\n[\s\S]*Try: .*\n/);
  const { email, key } = readZuliprc(join(options.dataDir, "zuliprc"));
  return { program, url, owner: new Client(url, { email, key, userId: 2 }) };
}
