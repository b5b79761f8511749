/** What `cli cluster status` shows, read from the streams and told by the nodes. */
import { headOf } from "./claim.ts";
import { connectNats, type NatsOptions } from "./connection.ts";
import { Directory } from "./directory.ts";
import { realmIdsIn } from "./follower.ts";
import { askReports, type NodeReport } from "./node-report.ts";
import { RealmLog } from "./realm-log.ts";
import { checkServers } from "./server-check.ts";
import { findStreams } from "./streams.ts";

/** How long nodes have to answer. */
const answerMs = 500;

/** @throws ClusterUnusable, ClusterSilent */
export async function clusterStatus(options: NatsOptions, monitors: readonly string[]): Promise<string[]> {
  const warnings = await checkServers(monitors);
  const nats = await connectNats(options);
  try {
    const streams = await findStreams(nats);
    const directory = streams === null ? null : await Directory.find(nats);
    if (streams === null || directory === null) return [...warnings, "no node has joined yet"];
    const reports = await askReports(nats, answerMs);
    const lines = [...warnings, ...reports.map((report) => nodeLine(report, directory))];
    for (const id of (await realmIdsIn(nats, streams)).toSorted((a, b) => a - b)) {
      const { epoch, position, sequence } = await headOf(new RealmLog(nats, streams, id));
      const place = `message ${sequence} of ${streams.nameOf(id)}`;
      const who = ownerOf(id, directory, reports);
      lines.push(
        `organization ${id}: ${who}, epoch ${epoch}, turn ${position}, ${place}${lags(id, position, reports)}`,
      );
    }
    return lines;
  } finally {
    await nats.close();
  }
}

function nodeLine({ node, address, isReady, realms }: NodeReport, directory: Directory): string {
  const served = realms.filter(([, , isServed]) => isServed).length;
  const state = directory.isDraining(node) ? ", draining" : isReady ? "" : ", reading the streams";
  return `node ${node} at ${address}: serves ${served} organizations${state}`;
}

function ownerOf(id: number, directory: Directory, reports: readonly NodeReport[]): string {
  const node = directory.owner(id)?.value.node;
  if (node === undefined) return "no owner yet";
  const report = reports.find((one) => one.node === node);
  const isServed = report?.realms.some(([realm, , served]) => realm === id && served) === true;
  const pin = directory.pin(id);
  return `owner ${node}${isServed ? "" : " (does not serve it)"}${pin === null ? "" : `, pinned to ${pin}`}`;
}

/** How many turns the other nodes lack. */
function lags(id: number, position: number, reports: readonly NodeReport[]): string {
  const texts = reports.flatMap(({ node, realms }) => {
    const found = realms.find(([realm]) => realm === id);
    if (found?.[2] === true) return [];
    return [`${node} lacks ${found === undefined ? "all" : Math.max(0, position - found[1])}`];
  });
  return texts.length === 0 ? "" : `; turns: ${texts.join(", ")}`;
}
