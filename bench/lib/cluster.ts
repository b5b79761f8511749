// Our server as a cluster on this machine: three NATS servers, and nodes of which the first one, `a`, serves the
// organization. CPU of all of them counts as that of the server.

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Child, type Exit } from "./child.ts";
import { CLUSTER_PROBE_MS, NATS_START_WAIT_MS } from "./limits.ts";
import { freePortRange } from "./ports.ts";
import { Restartable } from "./restartable.ts";
import { type Environment, HOST, type Server } from "./target.ts";
import { PROJECT_ROOT, type Workspace } from "./workspace.ts";

const NATS_SERVERS = 3;
const NODE_NAMES = ["a", "b", "c", "d", "e"] as const;
export const CLUSTER_NODES_MAX = NODE_NAMES.length;
/** The organization that a new data folder gets. */
const ORGANIZATION = 1;

export interface ClusterServer extends Server {
  /** The first one serves the organization. */
  readonly nodes: readonly Restartable[];
  /** Resolves when the first node serves the organization again. */
  readonly giveBack: () => Promise<void>;
}

const natsPath = [process.env["PATH"] ?? "", join(PROJECT_ROOT, ".nats")].join(delimiter);

/** What is missing for a cluster, as a line; null if there can be one. */
export function clusterObstacle(): string | null {
  const { stdout } = spawnSync("nats-server", ["--version"], { encoding: "utf8", env: { PATH: natsPath } });
  const [, major = 0, minor = 0] = (/v(\d+)\.(\d+)/.exec(stdout ?? "") ?? []).map(Number);
  return major > 2 || minor >= 15 ? null : "nats-server 2.15 or newer is not installed (docs/cluster.md)";
}

/**
 * Rejects with the end of their output if they do not start.
 * @param leaseMs null: as long as without a setting
 */
export async function startCluster(
  workspace: Workspace,
  count: number,
  leaseMs: number | null,
): Promise<ClusterServer> {
  const startedAt = performance.now();
  const servers = await startNats(workspace);
  const environment: Environment = {
    CLUSTER_NATS: `nats://${servers.map(({ port }) => `${HOST}:${port}`).join(",")}`,
    CLUSTER_NATS_MONITOR: servers.map(({ monitorPort }) => `http://${HOST}:${monitorPort}`).join(","),
    CLUSTER_STREAMS: "2",
    ...(leaseMs === null ? {} : { CLUSTER_LEASE_MS: String(leaseMs) }),
  };
  const nodes: Restartable[] = [];
  // One after the other: the first one creates the organization.
  for (const name of NODE_NAMES.slice(0, count)) {
    nodes.push(await Restartable.start(workspace, { ...environment, CLUSTER_NODE: name }));
  }
  const [owner] = nodes;
  if (owner === undefined) throw new Error("a cluster has at least one node");
  const giveBack = () => moveTo("a", environment);
  await giveBack();
  return {
    label: "ours",
    address: owner.address,
    transport: await owner.onceReady(),
    get watch() {
      const others = [...nodes.slice(1).map(({ pid }) => pid), ...servers.map(({ child }) => child.pid)];
      return { ...owner.watch, trees: others };
    },
    startMs: performance.now() - startedAt,
    credentials: owner.credentials,
    nodes,
    giveBack,
    death: () => [...nodes, ...servers.map(({ child }) => child)].map(({ death }) => death).find(Boolean) ?? null,
    stop: () => stopAll(nodes, servers),
  };
}

/** One after the other: each gives what it serves to those that are left. */
async function stopAll(nodes: readonly Restartable[], servers: readonly NatsServer[]): Promise<Exit> {
  const exits: Exit[] = [];
  for (const node of nodes) exits.push(await node.stop());
  await Promise.all(servers.map(({ child }) => child.stop()));
  return exits.find(({ code, killed }) => code !== 0 || killed) ?? { code: 0, signal: null, killed: false };
}

async function moveTo(node: string, environment: Environment): Promise<void> {
  const command = new Child({
    arguments: ["colloquy.mjs", "cluster", "move", String(ORGANIZATION), node],
    folder: PROJECT_ROOT,
    channel: false,
    environment,
  });
  const { code } = await command.exited;
  if (code !== 0) throw new Error(`the organization cannot be moved to node ${node}: ${command.output}`);
}

interface NatsServer {
  readonly child: Child;
  readonly port: number;
  readonly monitorPort: number;
}

async function startNats(workspace: Workspace): Promise<NatsServer[]> {
  const firstPort = await freePortRange(3 * NATS_SERVERS);
  const portOf = (server: number, kind: number) => firstPort + 3 * server + kind;
  const routes = Array.from({ length: NATS_SERVERS }, (_, index) => `nats://${HOST}:${portOf(index, 1)}`).join(", ");
  const servers = Array.from({ length: NATS_SERVERS }, (_, index) => {
    const folder = workspace.makeFolder("nats");
    const file = join(folder, "nats.conf");
    const [port, routePort, monitorPort] = [portOf(index, 0), portOf(index, 1), portOf(index, 2)];
    writeFileSync(
      file,
      [
        `server_name: n${index + 1}`,
        `listen: ${HOST}:${port}`,
        `http: ${HOST}:${monitorPort}`,
        `jetstream { store_dir: ${JSON.stringify(folder)}, sync_interval: always }`,
        `cluster { name: bench, listen: ${HOST}:${routePort}, routes: [${routes}] }`,
        "",
      ].join("\n"),
    );
    const environment = { PATH: natsPath };
    const child = new Child({ command: "nats-server", arguments: ["-c", file], folder, channel: false, environment });
    return { child, port, monitorPort };
  });
  await Promise.all(servers.map(untilHealthy));
  return servers;
}

async function untilHealthy({ child, monitorPort }: NatsServer): Promise<void> {
  const until = performance.now() + NATS_START_WAIT_MS;
  while (performance.now() < until) {
    if (!child.running) throw new Error(`a NATS server ended while it started: ${child.output}`);
    const answer = await fetch(`http://${HOST}:${monitorPort}/healthz`).catch(() => null);
    if (answer?.ok === true) return;
    await wait(CLUSTER_PROBE_MS);
  }
  throw new Error(`a NATS server was not ready in ${NATS_START_WAIT_MS / 1000} s: ${child.output}`);
}
