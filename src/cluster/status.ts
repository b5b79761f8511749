/** What `cli cluster status` shows, read from the streams. */

import { claimNoteIn, headOf } from "./claim.ts";
import type { NatsOptions } from "./connection.ts";
import { connectNats } from "./connection.ts";
import { decodeEnvelope } from "./envelope.ts";
import { realmIdsIn } from "./follower.ts";
import { RealmLog } from "./realm-log.ts";
import { checkServers } from "./server-check.ts";
import { electionId, findStreams } from "./streams.ts";

/** @throws ClusterUnusable, ClusterSilent */
export async function clusterStatus(options: NatsOptions, monitors: readonly string[]): Promise<string[]> {
  const warnings = await checkServers(monitors);
  const nats = await connectNats(options);
  try {
    const streams = await findStreams(nats);
    if (streams === null) return [...warnings, "no node has joined yet"];
    const election = await new RealmLog(nats, streams, electionId).last();
    const owner =
      election === null
        ? "no node has owned the organizations yet"
        : `owner: ${claimNoteIn(decodeEnvelope(election.bytes)).node} (epoch ${decodeEnvelope(election.bytes).epoch})`;
    const lines = [...warnings, owner];
    for (const id of (await realmIdsIn(nats, streams)).toSorted((a, b) => a - b)) {
      const { epoch, position, sequence } = await headOf(new RealmLog(nats, streams, id));
      lines.push(`organization ${id}: epoch ${epoch}, turn ${position}, message ${sequence} of ${streams.nameOf(id)}`);
    }
    return lines;
  } finally {
    await nats.close();
  }
}
