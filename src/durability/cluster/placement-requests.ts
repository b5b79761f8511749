/**
 * Sends the requests of operators to a cluster: an organization on a node, or a node without organizations (cli
 * cluster).
 */
import { setTimeout as wait } from "node:timers/promises";
import { limits } from "../../../schemas/limits.ts";
import { ClusterUnusable } from "./cluster-unusable.ts";
import { connectNats, type Nats, type NatsOptions } from "./connection.ts";
import { Directory } from "./directory.ts";
import { askReports } from "./node-report.ts";

/** How long the node has to answer before it counts as absent: a busy one takes its time. */
const answerMs = 3000;

interface ConnectedCluster {
  readonly nats: Nats;
  readonly directory: Directory;
}

/** @throws ClusterUnusable when no node has joined */
async function withCluster<T>(options: NatsOptions, work: (withCluster: ConnectedCluster) => Promise<T>): Promise<T> {
  const nats = await connectNats(options);
  try {
    const directory = await Directory.find(nats);
    if (directory === null) throw new ClusterUnusable("No node has joined this cluster yet.");
    return await work({ nats, directory });
  } finally {
    await nats.close();
  }
}

/**
 * Moves an organization to a node, where it stays while that node is there. Resolves when it is served there.
 * @throws ClusterUnusable if the node does not answer, or the organization does not get there in time
 */
export function moveRealm(options: NatsOptions, realmId: number, node: string): Promise<void> {
  return withCluster(options, async ({ nats, directory }) => {
    if (directory.owner(realmId) === null || directory.isErased(realmId))
      throw new ClusterUnusable(`The cluster has no organization ${realmId}.`);
    const nodes = (await askReports(nats, answerMs, node)).map((report) => report.node);
    if (!nodes.includes(node)) {
      throw new ClusterUnusable(`Node ${node} does not answer. These do: ${nodes.join(", ") || "none"}.`);
    }
    await directory.wish("pin", String(realmId), { node });
    await untilSo(`Organization ${realmId} is not on node ${node} yet: see cli cluster status.`, async () => {
      const [report] = (await askReports(nats, limits.cluster_report_ms_max, node)).filter((one) => one.node === node);
      return report?.realms.some(([id, , isServed]) => id === realmId && isServed) === true;
    });
  });
}

/** Lets an organization be wherever it belongs. */
export function unpinRealm(options: NatsOptions, realmId: number): Promise<void> {
  return withCluster(options, ({ directory }) => directory.wish("pin", String(realmId), { node: null }));
}

/**
 * Makes a node give its organizations away, and keeps it from getting others.
 * @throws ClusterUnusable if it does not get rid of them in time
 */
export function drainNode(options: NatsOptions, node: string): Promise<void> {
  return withCluster(options, async ({ directory }) => {
    await directory.wish("drain", node, { isDraining: true });
    await untilSo(`Node ${node} still has organizations: see cli cluster status.`, async () => {
      await directory.refresh();
      return !directory.owners().some(([, { value }]) => value.node === node);
    });
  });
}

export function endDrain(options: NatsOptions, node: string): Promise<void> {
  return withCluster(options, ({ directory }) => directory.wish("drain", node, { isDraining: false }));
}

async function untilSo(otherwise: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < limits.cluster_wish_attempts_max; attempt++) {
    if (await isSo()) return;
    await wait(limits.cluster_retry_ms_max);
  }
  throw new ClusterUnusable(otherwise);
}
