/**
 * Three NATS servers with JetStream on loopback, in temporary folders, for the tests of a cluster. The program is the one
 * in PATH, or the one that .ci/run builds into `.nats/`.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { limits } from "../../schemas/limits.ts";
import { connectNats, type Nats } from "../../src/durability/cluster/connection.ts";
import { requested } from "../../src/durability/cluster/request.ts";
import { freePortRange } from "../support/ports.ts";
import { checkout, Program } from "../support/process.ts";
import { type Teardown, temporaryFolder } from "../support/server.ts";

export const natsPath = [process.env["PATH"] ?? "", join(checkout, ".nats")].join(delimiter);

/** Why there can be no NATS servers here; null: there can be. */
export function natsObstacle(): string | null {
  const tried = spawnSync("nats-server", ["--version"], { encoding: "utf8", env: { PATH: natsPath } });
  const version = /v(\d+\.\d+)/.exec(tried.stdout ?? "")?.[1];
  if (version === undefined) return "nats-server is not installed (.ci/run builds it where Go is)";
  return Number(version.split(".")[1]) >= 15 ? null : `nats-server ${version} is too old: 2.15 is needed`;
}

/** Where a server runs. */
export interface NatsPlace {
  /** Its address for clients, and for the other servers. */
  readonly host: string;
  readonly routeHost: string;
  /** Starts a program there. */
  readonly within: readonly string[];
}

const loopback: NatsPlace = { host: "127.0.0.1", routeHost: "127.0.0.1", within: [] };

export interface NatsNode {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly monitorPort: number;
  program: Program;
  start(): void;
}

export interface NatsClusterOptions {
  readonly nodes?: number;
  readonly syncInterval?: string;
  /** Whether the servers tell clients where the others are; by default they do. */
  readonly advertise?: boolean;
  /** Further lines of their configuration: TLS, users. */
  readonly lines?: readonly string[];
  /** By default all of them are on loopback. */
  readonly placeOf?: (name: string) => NatsPlace;
}

export class NatsCluster {
  readonly nodes: readonly NatsNode[];

  private constructor(nodes: readonly NatsNode[]) {
    this.nodes = nodes;
  }

  /** The value of CLUSTER_NATS. */
  get url(): string {
    return `nats://${this.servers.join(",")}`;
  }

  get servers(): string[] {
    return this.nodes.map(({ host, port }) => `${host}:${port}`);
  }

  /** The value of CLUSTER_NATS_MONITOR. */
  get monitor(): string {
    return this.nodes.map(({ host, monitorPort }) => `http://${host}:${monitorPort}`).join(",");
  }

  connect(t: Teardown, name = "test"): Promise<Nats> {
    return connectNats({ servers: this.servers, name }).then((nats) => {
      t.teardown(() => nats.close());
      return nats;
    });
  }

  /** Resolves when JetStream works on all of them. */
  static async start(t: Teardown, options: NatsClusterOptions = {}): Promise<NatsCluster> {
    const {
      nodes = 3,
      syncInterval = "always",
      advertise = true,
      lines: more = [],
      placeOf = () => loopback,
    } = options;
    const folder = temporaryFolder(t);
    const places = Array.from({ length: nodes }, (_, index) => placeOf(`n${index}`));
    const firstPort = await freePortRange(3 * nodes);
    const portOf = (node: number, kind: number) => firstPort + 3 * node + kind;
    const routes = places.map(({ routeHost }, node) => `nats://${routeHost}:${portOf(node, 1)}`);
    const started = places.map(({ host, within }, index) => {
      const listen = within.length === 0 ? host : "0.0.0.0";
      const name = `n${index}`;
      const home = join(folder, name);
      mkdirSync(home);
      const config = join(home, "nats.conf");
      const lines = [
        `server_name: ${name}`,
        `listen: ${listen}:${portOf(index, 0)}`,
        `http: ${listen}:${portOf(index, 2)}`,
        `jetstream { store_dir: ${JSON.stringify(home)}, sync_interval: ${syncInterval}, max_mem: 64MB, max_file: 4GB }`,
        ...more,
        ...(nodes === 1
          ? []
          : [
              `cluster { name: test, listen: ${listen}:${portOf(index, 1)}, routes: [${routes.join(", ")}], no_advertise: ${!advertise} }`,
            ]),
      ];
      writeFileSync(config, `${lines.join("\n")}\n`);
      const [command = "", ...args] = [...within, "nats-server", "-c", config];
      const run = () => new Program(t, command, args, { PATH: natsPath });
      const node: NatsNode = {
        name,
        host,
        port: portOf(index, 0),
        monitorPort: portOf(index, 2),
        program: run(),
        start() {
          node.program = run();
        },
      };
      return node;
    });
    await Promise.all(started.map((node) => untilHealthy(node, nodes)));
    return new NatsCluster(started);
  }
}

/** Stores a message in the stream of its subject, which may be without a leader for a moment after it was made. */
export async function store(nats: Nats, subject: string, data: string | Uint8Array): Promise<void> {
  await requested(nats, () => nats.jetStream.publish(subject, data));
}

/** Waits until the stream has one. @returns the name of its server */
export async function leaderOf(nats: Nats, stream: string): Promise<string> {
  for (;;) {
    const { cluster } = await requested(nats, () => nats.manager.streams.info(stream));
    if (cluster?.leader !== undefined && cluster.leader !== "") return cluster.leader;
  }
}

interface Figures {
  readonly jetstream?: { readonly meta?: { readonly cluster_size?: number } };
}

/**
 * Resolves when the server has joined the others and the cluster has a leader.
 * @param peers how many the server must know, itself included; it is healthy as soon as most of them are there
 */
export async function untilHealthy({ host, monitorPort, program }: NatsNode, peers = 1): Promise<void> {
  let isOver = false;
  void program.exited.then(() => {
    isOver = true;
  });
  for (;;) {
    if (isOver) throw new Error(`nats-server ended: ${program.stdout}${program.stderr}`);
    const monitor = async (path: string) => fetch(`http://${host}:${monitorPort}${path}`).catch(() => null);
    const isHealthy = (await monitor("/healthz"))?.ok === true;
    // As the nodes count them (src/durability/cluster/server-check.ts).
    const figures = (await (await monitor("/varz"))?.json()) as Figures | undefined;
    if (isHealthy && (figures?.jetstream?.meta?.cluster_size ?? 1) >= peers) return;
    await new Promise((resolve) => setTimeout(resolve, limits.cluster_retry_ms_min));
  }
}
