// A peer's own PostgreSQL cluster, from the Debian package: created in an empty folder, started on a socket there,
// removed with the peer. It uses the package's settings; synchronous commits are also enabled explicitly. PostgreSQL
// refuses to run as root, in which case the account `postgres` of the package is used.

import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type Account, Child } from "../lib/child.ts";
import { DATABASE_START_WAIT_MS, UNIX_PATH_BYTES_MAX } from "../lib/limits.ts";
import type { Workspace } from "../lib/workspace.ts";

const PACKAGE_FOLDER = "/usr/lib/postgresql";
const ACCOUNT = "postgres";
const PROBE_MS = 20;
/** Part of the socket file's name; nothing listens on the network. */
const PORT = 5432;
const USER = "bench";

const SETTINGS = {
  listen_addresses: "",
  port: String(PORT),
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
} as const;

export interface Database {
  readonly pid: number;
  /** The folder of its client programs (psql). */
  readonly programs: string;
  /** Environment variables from which PostgreSQL's clients take its address. */
  readonly environment: Readonly<Record<string, string>>;
  readonly version: string;
  readonly death: () => string | null;
  readonly stop: Child["stop"];
}

/** The programs of the newest installed version; null if there is none. */
export function postgresPrograms(): string | null {
  if (!existsSync(PACKAGE_FOLDER)) return null;
  const [newest] = readdirSync(PACKAGE_FOLDER)
    .filter((version) => existsSync(join(PACKAGE_FOLDER, version, "bin", "initdb")))
    .toSorted((a, b) => Number(b) - Number(a));
  return newest === undefined ? null : join(PACKAGE_FOLDER, newest, "bin");
}

/**
 * Creates a cluster and starts it; with a port it also listens on the loopback interface, for clients without unix
 * sockets. Rejects with the end of its output when it does not start.
 */
export async function startDatabase(workspace: Workspace, tcpPort: number | null = null): Promise<Database> {
  const programs = postgresPrograms();
  if (programs === null) throw new Error("PostgreSQL is not installed");
  const account = accountFor(ACCOUNT);
  // A short name, because the path of a socket is limited to some hundred bytes.
  const folder = workspace.makeFolder("pg");
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  if (account !== null) {
    // Lets the account reach its own folder, and nothing else.
    chmodSync(workspace.folder, 0o711);
    for (const path of [folder, data]) chownSync(path, account.uid, account.gid);
  }
  const port = String(tcpPort ?? PORT);
  const socket = join(folder, `.s.PGSQL.${port}`);
  if (Buffer.byteLength(socket) > UNIX_PATH_BYTES_MAX) throw new Error(`the path of the socket is too long: ${socket}`);
  initialize({ programs, data, folder, account });
  const network = tcpPort === null ? {} : { listen_addresses: "127.0.0.1", port: String(tcpPort) };
  const settings = { ...SETTINGS, ...network, unix_socket_directories: folder };
  const child = new Child({
    command: join(programs, "postgres"),
    arguments: ["-D", data, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
    folder,
    channel: false,
    account,
    environment: { LC_ALL: "C", TZ: "UTC" },
    // Fast shutdown: SIGTERM would wait until the last client has disconnected.
    stopSignal: "SIGINT",
  });
  await waitUntilReady(child, join(data, "postmaster.pid"));
  return {
    pid: child.pid,
    programs,
    environment: { PGHOST: folder, PGPORT: port, PGUSER: USER, PGDATABASE: "postgres" },
    version: readFileSync(join(data, "PG_VERSION"), "utf8").trim(),
    death: () => child.death,
    stop: () => child.stop(),
  };
}

/** Null unless this process is root. Throws when root cannot switch to such an account. */
export function accountFor(name: string): Account | null {
  if (process.getuid?.() !== 0) return null;
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(":") ?? [];
  if (uid === undefined || gid === undefined) throw new Error(`there is no account ${name}`);
  return { uid: Number(uid), gid: Number(gid) };
}

function initialize(options: {
  readonly programs: string;
  readonly data: string;
  readonly folder: string;
  readonly account: Account | null;
}): void {
  const { programs, data, folder, account } = options;
  const { status, stderr, error } = spawnSync(
    join(programs, "initdb"),
    ["-D", data, "-U", USER, "--auth=trust", "--no-locale", "--encoding=UTF8"],
    { ...account, cwd: folder, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`cannot create a PostgreSQL cluster: ${error?.message ?? stderr.trim()}`);
}

/** The last line of the file in which PostgreSQL reports its status. */
async function waitUntilReady(child: Child, statusFile: string): Promise<void> {
  for (const until = performance.now() + DATABASE_START_WAIT_MS; performance.now() < until; await wait(PROBE_MS)) {
    if (!child.running) throw new Error(`PostgreSQL exited while it started: ${child.output}`);
    if (existsSync(statusFile) && /^ready\s*$/m.test(readFileSync(statusFile, "utf8"))) return;
  }
  child.kill();
  throw new Error(`PostgreSQL was not ready in ${DATABASE_START_WAIT_MS / 1000} s: ${child.output}`);
}
