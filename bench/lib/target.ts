// A target is a server under test, this one or a baseline: its address, what can be observed, and how to stop it. This
// server follows the start-up contract (PORT, HOST, DATA_DIR, RATE_LIMITS; ready when GET /server_settings answers 200;
// DATA_DIR/zuliprc; DATA_DIR/server.pid; METRICS_FILE on SIGUSR2). A target given by its URL is not stopped.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { BaselineReady } from "../baselines/baseline.ts";
import { Child, type Exit } from "./child.ts";
import type { Address } from "./http-connection.ts";
import { START_PROBE_MS, START_WAIT_MS } from "./limits.ts";
import { freePort } from "./ports.ts";
import type { Watch } from "./probe.ts";
import { PROJECT_ROOT, type Program, type Workspace } from "./workspace.ts";
import { type Credentials, readZuliprc } from "./zuliprc.ts";

export const HOST = "127.0.0.1";

/** The HTTP implementation of a server: uWebSockets.js or Node (docs/transport.md). */
export type Transport = "native" | "node";

/** Alternatives to this server (bench/peers). */
export const PEER_NAMES = ["fastify", "socketio", "ejabberd"] as const;
export type PeerName = (typeof PEER_NAMES)[number];

export interface Target {
  readonly label: "ours" | "baseline" | "journal" | PeerName;
  readonly address: Address;
  /** Null if the process cannot be observed from here. */
  readonly watch: Watch | null;
  /** Milliseconds from process start to the first response; null for a server that was already running. */
  readonly startMs: number | null;
  readonly stop: () => Promise<Exit | null>;
  /** How the process exited without being stopped; null while it runs, and for a server that was already running. */
  readonly death: () => string | null;
}

/** A target with the credentials of its users. */
export interface Server extends Target {
  readonly credentials: Credentials;
  readonly transport: Transport;
}

/** Fills the directory of a server before it starts. */
export type Prepare = (dataFolder: string) => Promise<void>;

/** Variables for a process that is started, in addition to its own. */
export type Environment = Readonly<Record<string, string>>;

const { scripts } = JSON.parse(readFileSync(join(PROJECT_ROOT, "package.json"), "utf8")) as {
  readonly scripts: { readonly start: string };
};

/** What `npm start` sets for the server. */
export const startEnvironment: Environment = Object.fromEntries(
  [...scripts.start.matchAll(/(\w+)=(\S+)/g)].map(([, name = "", value = ""]) => [name, value]),
);

/** Starts this server on an empty directory. Rejects with the end of its output if it does not start. */
export async function startServer(
  workspace: Workspace,
  prepare?: Prepare,
  environment: Environment = {},
): Promise<Server> {
  const dataFolder = workspace.makeFolder("data");
  await prepare?.(dataFolder);
  const metricsFile = join(dataFolder, "..", `${Date.now()}-${process.pid}-metrics.json`);
  const port = await freePort();
  // On the command line, because NODE_OPTIONS does not accept --cpu-prof.
  const nodeOptions = (process.env["SERVER_NODE_OPTIONS"] ?? "").split(" ").filter((option) => option !== "");
  const startedAt = performance.now();
  const child = new Child({
    arguments: [...nodeOptions, "colloquy.mjs"],
    folder: PROJECT_ROOT,
    channel: false,
    environment: {
      ...startEnvironment,
      PORT: String(port),
      HOST,
      DATA_DIR: dataFolder,
      RATE_LIMITS: "off",
      METRICS_FILE: metricsFile,
      ...environment,
    },
  });
  const address = { host: HOST, port };
  const transport = await waitUntilReady(address, child);
  const startMs = performance.now() - startedAt;
  return {
    label: "ours",
    address,
    watch: { pid: readServerPid(dataFolder) ?? child.pid, metricsFile },
    startMs,
    credentials: readZuliprc(join(dataFolder, "zuliprc")),
    transport,
    death: () => child.death,
    stop: async () => {
      const exit = await child.stop();
      rmSync(dataFolder, { recursive: true, force: true, maxRetries: 3 });
      return exit;
    },
  };
}

/**
 * Starts a baseline. `input` is written to a file (prepared responses, frames), whose path is passed in the named
 * variable.
 */
export async function startBaseline(options: {
  readonly workspace: Workspace;
  readonly program: Program;
  readonly input?: { readonly variable: string; readonly value: unknown };
  /** `journal`: the second baseline of a scenario. */
  readonly label?: "baseline" | "journal";
  readonly environment?: Environment;
}): Promise<Target> {
  const { workspace, program, input, label = "baseline" } = options;
  const folder = workspace.makeFolder("baseline");
  const metricsFile = join(folder, "metrics.json");
  const environment: Record<string, string> = {
    DATA_DIR: join(folder, "data"),
    METRICS_FILE: metricsFile,
    ...options.environment,
  };
  if (input !== undefined) {
    const inputFile = join(folder, "input.json");
    writeFileSync(inputFile, JSON.stringify(input.value));
    environment[input.variable] = inputFile;
  }
  const startedAt = performance.now();
  const child = new Child({ arguments: [workspace.program(program)], folder, channel: true, environment });
  const port = await readBaselinePort(child);
  const address = { host: HOST, port };
  await waitUntilReady(address, child);
  return {
    label,
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

/** A target for a running server. If it runs on this machine, `pid` allows CPU and memory to be read. */
export async function useServer(options: {
  readonly url: URL;
  readonly credentials: Credentials;
  readonly pid: number | null;
}): Promise<Server> {
  const { url, credentials, pid } = options;
  const address = { host: url.hostname, port: Number(url.port === "" ? 80 : url.port) };
  const transport = await transportOf(address);
  if (transport === null) throw new Error(`${url.origin} does not answer`);
  return {
    label: "ours",
    address,
    transport,
    watch: pid === null ? null : { pid, metricsFile: null },
    startMs: null,
    credentials,
    stop: () => Promise.resolve(null),
    death: () => null,
  };
}

/** Whether `host` is this machine. Otherwise a local baseline cannot be compared with the server. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || host.startsWith("127.");
}

/** Resolves when the server answers. Rejects with the end of its output if it exits before, or takes too long. */
export async function waitUntilReady(address: Address, child: Child): Promise<Transport> {
  const until = performance.now() + START_WAIT_MS;
  while (performance.now() < until) {
    if (!child.running) throw new Error(`the server exited while it started: ${child.output}`);
    const transport = await transportOf(address);
    if (transport !== null) return transport;
    await wait(START_PROBE_MS);
  }
  child.kill();
  throw new Error(`the server was not ready in ${START_WAIT_MS / 1000} s: ${child.output}`);
}

/**
 * The transport of a running server; null if it does not answer (yet). uWebSockets.js names itself in every response.
 */
function transportOf(address: Address): Promise<Transport | null> {
  return new Promise((resolve) => {
    const request = get({ ...address, path: "/api/v1/server_settings", agent: false }, (response) => {
      const transport = response.headers["uwebsockets"] === undefined ? "node" : "native";
      response.resume();
      response.once("end", () => resolve(response.statusCode === 200 ? transport : null));
      response.once("error", () => resolve(null));
    });
    request.once("error", () => resolve(null));
  });
}

function readBaselinePort(child: Child): Promise<number> {
  return new Promise((resolve, reject) => {
    child.process.once("message", (ready: BaselineReady) => resolve(ready.port));
    child.exited.then(
      () => reject(new Error(`a baseline ended while it started: ${child.output}`)),
      () => undefined,
    );
  });
}

/** The first line of DATA_DIR/server.pid: the serving process, whose parent is `colloquy.mjs`. */
export function readServerPid(dataFolder: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(join(dataFolder, "server.pid"), "utf8"), 10);
    return Number.isSafeInteger(pid) ? pid : null;
  } catch {
    return null;
  }
}
