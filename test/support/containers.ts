/**
 * A server in process and mount namespaces of its own, as in a container, on this machine's network. Needs permission
 * to unshare.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { Client } from "./client.ts";
import { checkout, type Environment, Program, type ServerProgram } from "./process.ts";
import { readZuliprc, type Teardown } from "./server.ts";

const flags = ["--pid", "--fork", "--kill-child", "--mount-proc"];

/** Why namespaces cannot be created here; null: they can. */
export function containerObstacle(): string | null {
  const tried = spawnSync("unshare", [...flags, "true"], { encoding: "utf8" });
  if (tried.error !== undefined) return "unshare is not installed";
  return tried.status === 0 ? null : `cannot create namespaces here: ${tried.stderr.trim()}`;
}

export interface ContainerOptions {
  readonly cwd?: string;
  /** Whether it is process 1 of its namespace, as in most containers, or a later one. */
  readonly isFirst?: boolean;
  /** The arguments of node; the server by default. */
  readonly args?: readonly string[];
}

/** `npm start` without npm. Ending the program ends its whole namespace. */
export function runContained(t: Teardown, dataDir: string, options: ContainerOptions = {}): Program {
  const { cwd = checkout, isFirst = true, args = ["colloquy.mjs"] } = options;
  const script = isFirst ? 'exec "$0" "$@"' : 'true; "$0" "$@"; exit $?';
  const given: Environment = { PORT: "0", RATE_LIMITS: "off", DATA_DIR: dataDir };
  return new Program(t, "unshare", [...flags, "sh", "-c", script, process.execPath, ...args], given, cwd);
}

/** Resolves when the server has printed its address. */
export async function startContained(t: Teardown, dataDir: string, options?: ContainerOptions): Promise<ServerProgram> {
  const program = runContained(t, dataDir, options);
  const [, url = ""] = await program.printed(/is at (\S+)\n[\s\S]*Try: .*\n/);
  const { email, key } = readZuliprc(join(dataDir, "zuliprc"));
  return { program, url, owner: new Client(url, { email, key, userId: 2 }) };
}
