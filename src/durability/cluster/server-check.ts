/**
 * The requirements of a node on the NATS servers before it relies on them: their version, a flush before each
 * acknowledgement, and three fixed peers. The servers say so on their monitoring pages (CLUSTER_NATS_MONITOR).
 */
import { limits } from "../../../schemas/limits.ts";
import { ClusterSilent, ClusterUnusable } from "./cluster-unusable.ts";

const versionMin = [2, 15] as const;
const peersMin = 3;

/** The part of `/varz` that counts. */
interface ServerPage {
  readonly server_id?: string;
  readonly server_name?: string;
  readonly version?: string;
  readonly jetstream?: {
    readonly config?: { readonly sync_always?: boolean };
    readonly meta?: { readonly cluster_size?: number };
  };
}

interface Seen {
  readonly address: string;
  /** Null: it does not answer. */
  readonly page: ServerPage | null;
}

/**
 * A server that does not answer is no reason to reject the others, because a cluster works without one of three.
 * @param addresses of the monitoring pages, such as `http://10.0.0.1:8222`
 * @returns what an operator should know, one line each
 * @throws ClusterUnusable when the servers cannot keep what a cluster promises; ClusterSilent when too few answer
 */
export async function checkServers(addresses: readonly string[]): Promise<string[]> {
  const seen = await Promise.all(addresses.map(look));
  const pages = seen.flatMap(({ address, page }) => (page === null ? [] : [{ address, page }]));
  for (const { address, page } of pages) requireServer(address, page);
  const servers = new Set(pages.map(({ page }) => page.server_id));
  if (addresses.length < peersMin) {
    throw new ClusterUnusable(
      `CLUSTER_NATS_MONITOR names ${addresses.length} NATS servers, and ${peersMin} are needed. Name the monitoring page of each.`,
    );
  }
  const majority = Math.floor(addresses.length / 2) + 1;
  if (servers.size < majority) {
    const message = `${servers.size} of ${addresses.length} NATS servers of CLUSTER_NATS_MONITOR answer, and ${majority} are needed. Start the servers with a monitoring port (http: 8222), or correct the addresses.`;
    // The network of this node may be cut: a later start may succeed.
    throw pages.length < majority ? new ClusterSilent(message) : new ClusterUnusable(message);
  }
  return seen.flatMap(({ address, page }) => (page === null ? [`NATS server ${address} does not answer`] : []));
}

async function look(address: string): Promise<Seen> {
  try {
    const answer = await fetch(`${address}/varz`, { signal: AbortSignal.timeout(limits.cluster_monitor_ms_max) });
    if (!answer.ok) return { address, page: null };
    return { address, page: JSON.parse(await textOf(answer)) as ServerPage };
  } catch {
    return { address, page: null };
  }
}

/** @throws Error when the page is larger than any of a NATS server */
async function textOf(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > limits.cluster_monitor_bytes_max) throw new Error("the page is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function requireServer(address: string, { server_name: name = "", version = "", jetstream }: ServerPage): void {
  const server = `NATS server ${name} (${address})`;
  if (!isNewEnough(version)) {
    throw new ClusterUnusable(
      `${server} has version ${version}, which is too old: it acknowledges before it flushes, or too slowly. Install ${versionMin.join(".")} or newer.`,
    );
  }
  if (jetstream?.config === undefined) {
    throw new ClusterUnusable(
      `${server} runs without JetStream. Add "jetstream { sync_interval: always }" to its file.`,
    );
  }
  if (jetstream.config.sync_always !== true) {
    throw new ClusterUnusable(
      `${server} acknowledges before it flushes, so a power cut would lose messages. Set "sync_interval: always" in the part "jetstream" of its file, and restart it.`,
    );
  }
  const peers = jetstream.meta?.cluster_size ?? 1;
  if (peers < peersMin) {
    throw new ClusterUnusable(
      `${server} has ${peers === 1 ? "no peers" : `a cluster of ${peers}`}, and ${peersMin} servers are needed. Add the others to the part "cluster" of its file.`,
    );
  }
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > versionMin[0] || (major === versionMin[0] && minor >= versionMin[1]);
}
