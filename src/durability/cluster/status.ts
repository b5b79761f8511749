/** The figures of `cli cluster status`, from the streams and from the nodes. */
import { headOf } from "./claim.ts";
import { connectNats, type NatsOptions } from "./connection.ts";
import { Directory } from "./directory.ts";
import { askReports, type NodeReport } from "./node-report.ts";
import { RealmLog } from "./realm-log.ts";
import { checkServers } from "./server-check.ts";
import { realmIdsIn } from "./stream-news.ts";
import { findStreams } from "./streams.ts";

/** How long nodes have to answer. */
const answerMs = 500;

interface NodeStatus {
  readonly node: string;
  readonly address: string;
  readonly serves: number;
  readonly state: "draining" | "ready" | "reading the streams";
}

/** How many turns another node lacks; null: all. */
interface Lag {
  readonly node: string;
  readonly turns: number | null;
}

interface OrganizationStatus {
  readonly id: number;
  /** Null: it has no owner yet. */
  readonly owner: { readonly node: string; readonly serves: boolean; readonly pinned_to: string | null } | null;
  readonly epoch: number;
  readonly turn: number;
  readonly stream: string;
  readonly message: number;
  readonly lags: readonly Lag[];
}

export interface ClusterStatus {
  readonly warnings: readonly string[];
  readonly nodes: readonly NodeStatus[];
  readonly organizations: readonly OrganizationStatus[];
}

/** @throws ClusterUnusable, ClusterSilent */
export async function clusterStatus(options: NatsOptions, monitors: readonly string[]): Promise<ClusterStatus> {
  const warnings = await checkServers(monitors);
  const nats = await connectNats(options);
  try {
    const streams = await findStreams(nats);
    const directory = streams === null ? null : await Directory.find(nats);
    if (streams === null || directory === null) return { warnings, nodes: [], organizations: [] };
    const reports = await askReports(nats, answerMs);
    const organizations: OrganizationStatus[] = [];
    for (const id of (await realmIdsIn(nats, streams)).toSorted((a, b) => a - b)) {
      if (directory.isErased(id)) continue;
      const { epoch, position, sequence } = await headOf(new RealmLog(nats, streams, id));
      const owner = ownerOf(id, directory, reports);
      const place = { epoch, turn: position, stream: streams.nameOf(id), message: sequence };
      organizations.push({ id, owner, ...place, lags: lagsOf(id, position, reports) });
    }
    return { warnings, nodes: reports.map((report) => nodeStatus(report, directory)), organizations };
  } finally {
    await nats.close();
  }
}

function nodeStatus({ node, address, isReady, realms }: NodeReport, directory: Directory): NodeStatus {
  const serves = realms.filter(([, , isServed]) => isServed).length;
  const state = directory.isDraining(node) ? "draining" : isReady ? "ready" : "reading the streams";
  return { node, address, serves, state };
}

function ownerOf(id: number, directory: Directory, reports: readonly NodeReport[]): OrganizationStatus["owner"] {
  const node = directory.owner(id)?.value.node;
  if (node === undefined) return null;
  const report = reports.find((one) => one.node === node);
  const serves = report?.realms.some(([realm, , served]) => realm === id && served) === true;
  return { node, serves, pinned_to: directory.pin(id) };
}

function lagsOf(id: number, position: number, reports: readonly NodeReport[]): Lag[] {
  return reports.flatMap(({ node, realms }) => {
    const found = realms.find(([realm]) => realm === id);
    if (found?.[2] === true) return [];
    return [{ node, turns: found === undefined ? null : Math.max(0, position - found[1]) }];
  });
}

/** For people. */
export function statusLines({ warnings, nodes, organizations }: ClusterStatus): string[] {
  if (nodes.length === 0 && organizations.length === 0) return [...warnings, "no node has joined yet"];
  return [...warnings, ...nodes.map(nodeLine), ...organizations.map(organizationLine)];
}

function nodeLine({ node, address, serves, state }: NodeStatus): string {
  return `node ${node} at ${address}: serves ${serves} organizations${state === "ready" ? "" : `, ${state}`}`;
}

function organizationLine({ id, owner, epoch, turn, stream, message, lags }: OrganizationStatus): string {
  const texts = lags.map(({ node, turns }) => `${node} lacks ${turns ?? "all"}`);
  const missing = texts.length === 0 ? "" : `; turns: ${texts.join(", ")}`;
  return `organization ${id}: ${ownerText(owner)}, epoch ${epoch}, turn ${turn}, message ${message} of ${stream}${missing}`;
}

function ownerText(owner: OrganizationStatus["owner"]): string {
  if (owner === null) return "no owner yet";
  const pin = owner.pinned_to === null ? "" : `, pinned to ${owner.pinned_to}`;
  return `owner ${owner.node}${owner.serves ? "" : " (does not serve it)"}${pin}`;
}
