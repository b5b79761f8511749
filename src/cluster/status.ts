/** What `cli cluster status` shows, read from the streams. */
import { headOf } from "./claim.ts";
import type { NatsOptions } from "./connection.ts";
import { connectNats } from "./connection.ts";
import { Directory } from "./directory.ts";
import { realmIdsIn } from "./follower.ts";
import { RealmLog } from "./realm-log.ts";
import { checkServers } from "./server-check.ts";
import { findStreams } from "./streams.ts";

/** @throws ClusterUnusable, ClusterSilent */
export async function clusterStatus(options: NatsOptions, monitors: readonly string[]): Promise<string[]> {
  const warnings = await checkServers(monitors);
  const nats = await connectNats(options);
  try {
    const streams = await findStreams(nats);
    const directory = streams === null ? null : await Directory.find(nats);
    if (streams === null || directory === null) return [...warnings, "no node has joined yet"];
    const lines = [...warnings];
    for (const id of (await realmIdsIn(nats, streams)).toSorted((a, b) => a - b)) {
      const { epoch, position, sequence } = await headOf(new RealmLog(nats, streams, id));
      const owner = directory.owner(id)?.value.node ?? "none";
      lines.push(
        `organization ${id}: owner ${owner}, epoch ${epoch}, turn ${position}, message ${sequence} of ${streams.nameOf(id)}`,
      );
    }
    return lines;
  } finally {
    await nats.close();
  }
}
