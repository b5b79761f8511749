/** Nodes of a cluster as real processes. */
import { join } from "node:path";
import type { Test } from "tap";
import { type Answer, Client } from "../support/client.ts";
import { checkout, type Environment, Program } from "../support/process.ts";
import { readZuliprc } from "../support/server.ts";
import type { NatsCluster } from "./nats.ts";

interface NodeOptions {
  readonly name: string;
  readonly dataDir: string;
  readonly environment?: Environment;
  /** The folder of the program; by default this checkout. */
  readonly program?: string;
  /** Starts a program where the node is to run. */
  readonly within?: readonly string[];
}

export function startNode(
  t: Test,
  cluster: NatsCluster,
  { name, dataDir, environment = {}, program = checkout, within = [] }: NodeOptions,
): Program {
  const [command = "", ...args] = [...within, process.execPath, "colloquy.mjs"];
  return new Program(
    t,
    command,
    args,
    {
      PORT: "0",
      RATE_LIMITS: "off",
      DATA_DIR: dataDir,
      CLUSTER_NATS: cluster.url,
      CLUSTER_NATS_MONITOR: cluster.monitor,
      CLUSTER_NODE: name,
      CLUSTER_STREAMS: "2",
      // The machine of a test may stand still for a second. The nemesis plays that, with leases as they are.
      CLUSTER_LEASE_MS: "3000",
      ...environment,
    },
    program,
  );
}

/** Resolves when the node serves. */
export async function urlOf(program: Program): Promise<string> {
  return (await program.printed(/is at (\S+)\n/))[1] ?? "";
}

/** Runs a program with the environment of a node until it exits. */
export function runCluster(t: Test, cluster: NatsCluster, args: readonly string[], more: Environment = {}) {
  const environment = { CLUSTER_NATS: cluster.url, CLUSTER_NATS_MONITOR: cluster.monitor, ...more };
  return new Program(t, process.execPath, args, environment, checkout).exited;
}

/**
 * Moves an organization, once more if the node is too busy to say in time that it is there.
 * @returns how the command ended
 */
export async function moveTo(t: Test, cluster: NatsCluster, realmId: number, node: string) {
  for (;;) {
    const moved = await runCluster(t, cluster, ["colloquy.mjs", "cluster", "move", String(realmId), node]);
    if (!/ does not answer\. /.test(moved.stderr)) return moved;
  }
}

/** Asks as clients do: again while no node serves the organization yet, which takes a busy machine long. */
export async function served<T extends Pick<Answer, "status">>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503) return answer;
  }
}

/** The owner of the organization that was created in this data folder. */
export async function clientAt(url: string, dataDir: string): Promise<Client> {
  const { email, key } = readZuliprc(join(dataDir, "zuliprc"));
  return new Client(url, { email, key, userId: 2 });
}
