// A target is a server under test, ours or a floor: where it listens, what may be watched, how it is stopped. Ours follows the
// start-up contract (PORT, HOST, DATA_DIR, RATE_LIMITS; ready when GET /server_settings answers 200; DATA_DIR/zuliprc;
// DATA_DIR/server.pid; METRICS_FILE on SIGUSR2). A target with a URL was started by somebody else and is left alone.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { FloorReady } from "../floors/floor.ts";
import type { PeerName } from "../peers/peer.ts";
import { Child, type Exit } from "./child.ts";
import type { Address } from "./http-connection.ts";
import { START_PROBE_MS, START_WAIT_MS } from "./limits.ts";
import type { Watch } from "./probe.ts";
import { PROJECT_ROOT, type Program, type Workspace } from "./workspace.ts";
import { type Credentials, readZuliprc } from "./zuliprc.ts";

const HOST = "127.0.0.1";

export interface Target {
  readonly label: "ours" | "floor" | PeerName;
  readonly address: Address;
  /** Null when the process cannot be seen from here. */
  readonly watch: Watch | null;
  /** Milliseconds from the start of the process to its first answer; null when we did not start it. */
  readonly startMs: number | null;
  readonly stop: () => Promise<Exit | null>;
  /** How the process ended when it should be running; null while it runs and for a server that is not ours. */
  readonly death: () => string | null;
}

/** A target that knows who may use it. */
export interface Server extends Target {
  readonly credentials: Credentials;
}

/** Fills the directory of a server that is about to start. */
export type Prepare = (dataFolder: string) => Promise<void>;

/** Starts our server on an empty directory of its own. Rejects with the end of its output when it does not come up. */
export async function startServer(workspace: Workspace, prepare?: Prepare): Promise<Server> {
  const dataFolder = workspace.makeFolder("data");
  await prepare?.(dataFolder);
  const metricsFile = join(dataFolder, "..", `${Date.now()}-${process.pid}-metrics.json`);
  const port = await findFreePort();
  // On the command line, because NODE_OPTIONS takes no --cpu-prof.
  const nodeOptions = (process.env["SERVER_NODE_OPTIONS"] ?? "").split(" ").filter((option) => option !== "");
  const startedAt = performance.now();
  const child = new Child({
    arguments: [...nodeOptions, "start.mjs"],
    folder: PROJECT_ROOT,
    channel: false,
    environment: {
      PORT: String(port),
      HOST,
      DATA_DIR: dataFolder,
      RATE_LIMITS: "off",
      METRICS_FILE: metricsFile,
    },
  });
  const address = { host: HOST, port };
  await waitUntilReady(address, child);
  const startMs = performance.now() - startedAt;
  return {
    label: "ours",
    address,
    watch: { pid: readServerPid(dataFolder) ?? child.pid, metricsFile },
    startMs,
    credentials: readZuliprc(join(dataFolder, "zuliprc")),
    death: () => child.death,
    stop: async () => {
      const exit = await child.stop();
      rmSync(dataFolder, { recursive: true, force: true, maxRetries: 3 });
      return exit;
    },
  };
}

/** Starts a floor. `input` is written to a file whose path goes into the named variable (prepared answers, frames). */
export async function startFloor(options: {
  readonly workspace: Workspace;
  readonly program: Program;
  readonly input?: { readonly variable: string; readonly value: unknown };
}): Promise<Target> {
  const { workspace, program, input } = options;
  const folder = workspace.makeFolder("floor");
  const metricsFile = join(folder, "metrics.json");
  const environment: Record<string, string> = { DATA_DIR: join(folder, "data"), METRICS_FILE: metricsFile };
  if (input !== undefined) {
    const inputFile = join(folder, "input.json");
    writeFileSync(inputFile, JSON.stringify(input.value));
    environment[input.variable] = inputFile;
  }
  const startedAt = performance.now();
  const child = new Child({ arguments: [workspace.program(program)], folder, channel: true, environment });
  const port = await readFloorPort(child);
  const address = { host: HOST, port };
  await waitUntilReady(address, child);
  return {
    label: "floor",
    address,
    watch: { pid: child.pid, metricsFile },
    startMs: performance.now() - startedAt,
    death: () => child.death,
    stop: async () => {
      const exit = await child.stop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
      return exit;
    },
  };
}

/** A server that is already there. `pid` lets CPU and memory be read when it runs on this machine. */
export function useServer(options: {
  readonly url: URL;
  readonly credentials: Credentials;
  readonly pid: number | null;
}): Server {
  const { url, credentials, pid } = options;
  return {
    label: "ours",
    address: { host: url.hostname, port: Number(url.port === "" ? 80 : url.port) },
    watch: pid === null ? null : { pid, metricsFile: null },
    startMs: null,
    credentials,
    stop: () => Promise.resolve(null),
    death: () => null,
  };
}

/** Whether `host` is this machine: only then does a floor beside the server mean anything. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || host.startsWith("127.");
}

async function waitUntilReady(address: Address, child: Child): Promise<void> {
  const until = performance.now() + START_WAIT_MS;
  while (performance.now() < until) {
    if (!child.running) throw new Error(`the server ended while it started: ${child.output}`);
    if ((await statusOf(address, "/api/v1/server_settings")) === 200) return;
    await wait(START_PROBE_MS);
  }
  child.kill();
  throw new Error(`the server was not ready in ${START_WAIT_MS / 1000} s: ${child.output}`);
}

/** Status of a GET, or null when nobody answers (yet). */
function statusOf(address: Address, path: string): Promise<number | null> {
  return new Promise((resolve) => {
    const request = get({ ...address, path, agent: false }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode ?? null));
      response.once("error", () => resolve(null));
    });
    request.once("error", () => resolve(null));
  });
}

function readFloorPort(child: Child): Promise<number> {
  return new Promise((resolve, reject) => {
    child.process.once("message", (ready: FloorReady) => resolve(ready.port));
    child.exited.then(
      () => reject(new Error(`a floor ended while it started: ${child.output}`)),
      () => undefined,
    );
  });
}

/** The first line of DATA_DIR/server.pid: the process that serves, when `start.mjs` is only its parent. */
function readServerPid(dataFolder: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(join(dataFolder, "server.pid"), "utf8"), 10);
    return Number.isSafeInteger(pid) ? pid : null;
  } catch {
    return null;
  }
}

/** A TCP port of this machine that nobody has just now. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, HOST, () => {
      const bound = probe.address();
      probe.close(() => resolve(typeof bound === "object" && bound !== null ? bound.port : 0));
    });
  });
}
