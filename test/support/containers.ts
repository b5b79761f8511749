/** A server in process and mount namespaces of its own, as in a container, on this machine's network. Needs leave to unshare. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { Client } from "./client.ts";
import { checkout, type Environment, Program, type ServerProgram } from "./process.ts";
import { readZuliprc, type Teardown } from "./server.ts";

const flags = ["--pid", "--fork", "--kill-child", "--mount-proc"];

/** Why there are no namespaces here; null: there are. */
export function containerObstacle(): string | null {
  const tried = spawnSync("unshare", [...flags, "true"], { encoding: "utf8" });
  if (tried.error !== undefined) return "unshare is not installed";
  return tried.status === 0 ? null : `namespaces cannot be made here: ${tried.stderr.trim()}`;
}

export interface ContainerOptions {
  readonly cwd?: string;
  /** Whether it is process 1 of its namespace, as most are in containers; or a later one. */
  readonly isFirst?: boolean;
  /** What node runs; the server without. */
  readonly args?: readonly string[];
}

/** `npm start` without npm. Ending the program ends all of its namespace. */
export function runContained(t: Teardown, dataDir: string, options: ContainerOptions = {}): Program {
  const { cwd = checkout, isFirst = true, args = ["start.mjs"] } = options;
  const script = isFirst ? 'exec "$0" "$@"' : 'true; "$0" "$@"; exit $?';
  const given: Environment = { PORT: "0", RATE_LIMITS: "off", DATA_DIR: dataDir };
  return new Program(t, "unshare", [...flags, "sh", "-c", script, process.execPath, ...args], given, cwd);
}

/** Until it says where it is. */
export async function startContained(t: Teardown, dataDir: string, options?: ContainerOptions): Promise<ServerProgram> {
  const program = runContained(t, dataDir, options);
  const [, url = ""] = await program.printed(/is at (\S+)\n[\s\S]*Try: .*\n/);
  const { email, key } = readZuliprc(join(dataDir, "zuliprc"));
  return { program, url, owner: new Client(url, { email, key, userId: 2 }) };
}
