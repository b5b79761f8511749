/** The journal of a realm on JetStream while NATS servers die and come back. */
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { claimRealm } from "../../src/durability/cluster/claim.ts";
import { RealmLog } from "../../src/durability/cluster/realm-log.ts";
import { StreamJournal } from "../../src/durability/cluster/stream-journal.ts";
import { openStreams } from "../../src/durability/cluster/streams.ts";
import type { Recorded } from "../../src/durability/journal/journal.ts";
import { storeVersion } from "../../src/store/migrations.ts";
import { appendAll, DurableWatch, sameRecords } from "../journal/contract.ts";
import { NatsCluster, type NatsNode, natsObstacle, untilHealthy } from "./nats.ts";
import { readAll } from "./read-all.ts";

const obstacle = natsObstacle();
if (obstacle !== null) t.plan(0, obstacle);
else {
  const cluster = await NatsCluster.start(t);
  const nats = await cluster.connect(t);
  const streams = await openStreams(nats, { streams: 2 });
  let realms = 0;
  const newLog = () => new RealmLog(nats, streams, ++realms);

  const openJournal = async (t: Test, log: RealmLog): Promise<StreamJournal> => {
    const claim = await claimRealm(log, { node: "a", storeVersion });
    return new StreamJournal({ log, claim, fatal: (error) => t.fail(error.message) });
  };

  t.test("[M1] nothing is lost or doubled while NATS servers are killed and start again", async (t) => {
    const log = newLog();
    const journal = await openJournal(t, log);
    const watch = new DurableWatch(journal);
    const expected: Recorded[] = [];
    for (const node of cluster.nodes) {
      // Under way while the server dies, whether it leads the stream or not.
      expected.push(...appendAll(journal, [100, 2000, 1_000_000, 10], [log.realmId]));
      await node.program.end("SIGKILL");
      expected.push(...appendAll(journal, [100, 2000], [log.realmId]));
      await watch.until(expected.length);
      node.start();
      await untilHealthy(node);
    }
    await journal.close();
    sameRecords(t, await readAll(log), expected, "every record once, in order");
  });

  t.test("nothing is acknowledged without a majority of the servers", async (t) => {
    const log = newLog();
    const journal = await openJournal(t, log);
    const watch = new DurableWatch(journal);
    const [a, b] = cluster.nodes as [NatsNode, NatsNode];
    await Promise.all([a.program.end("SIGKILL"), b.program.end("SIGKILL")]);
    const expected = appendAll(journal, [10, 20], [log.realmId]);
    await new Promise((resolve) => setTimeout(resolve, 3 * limits.cluster_acknowledgement_ms_max));
    t.strictSame([journal.durable, watch.notices], [0, []], "several attempts, no acknowledgement");
    t.equal(journal.unflushedBytes, 30);
    a.start();
    b.start();
    await watch.until(2);
    await journal.close();
    sameRecords(t, await readAll(log), expected, "it goes on by itself when they are back");
  });
}
