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

/** Starts the server on port 0 under strace; resolves when it has printed its address. It is built before, untraced. */
export async function startTraced(t: Teardown, options: TracedOptions): Promise<ServerProgram> {
  const { dataDir, file, flags, cwd = checkout } = options;
  spawnSync(process.execPath, ["build.mjs"], { cwd });
  const environment = { PORT: "0", RATE_LIMITS: "off", DATA_DIR: dataDir, ...options.environment };
  const given = [...always, ...flags, "-o", file, process.execPath, "start.mjs"];
  const program = new Program(t, "strace", given, environment, cwd);
  const [, url = ""] = await program.printed(/is at (\S+)\n[\s\S]*Try: .*\n/);
  const { email, key } = readZuliprc(join(dataDir, "zuliprc"));
  return { program, url, owner: new Client(url, { email, key, userId: 2 }) };
}
