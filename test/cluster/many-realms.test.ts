/** What a node that follows many organizations asks the NATS servers for. */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { claimEpoch } from "../../src/durability/cluster/claim.ts";
import { Follower } from "../../src/durability/cluster/follower.ts";
import { RealmLog } from "../../src/durability/cluster/realm-log.ts";
import { StreamJournal } from "../../src/durability/cluster/stream-journal.ts";
import { openStreams } from "../../src/durability/cluster/streams.ts";
import { RecordEncoder } from "../../src/durability/journal/record.ts";
import { storeVersion } from "../../src/store/migrations.ts";
import type { RootStore } from "../../src/store/root.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { until } from "../support/realtime.ts";
import { temporaryFolder } from "../support/server.ts";
import { NatsCluster, natsObstacle } from "./nats.ts";

const count = Number(process.env["REALMS"] ?? 70);
const streamCount = 4;
const looksMax = 5;
const skip = natsObstacle() ?? false;

t.test("a node asks only for organizations that have something new", { skip }, async (t) => {
  const cluster = await NatsCluster.start(t);
  const writer = await cluster.connect(t);
  const streams = await openStreams(writer, { streams: streamCount });
  const journals: StreamJournal[] = [];
  const write = async (id: number, turn: number) => {
    const journal = journals[id - 1] as StreamJournal;
    const position = journal.append(id, new RecordEncoder().encode(turn, 0, []));
    await until(() => journal.durable >= position);
  };
  for (let id = 1; id <= count; id++) {
    const log = new RealmLog(writer, streams, id);
    const claim = await claimEpoch(log, { node: "a", storeVersion }, 1, { joins: { turn: 0, base: 1 } });
    if (claim === null) throw new Error("it cannot be claimed");
    journals.push(new StreamJournal({ log, claim, fatal: (error) => t.fail(error.message) }));
    await write(id, 1);
  }
  const nats = await cluster.connect(t);
  const clock = new ManualClock(0);
  // Its organizations are listed already.
  const root = {
    isErased: () => false,
    realms: () => Array.from({ length: count }, (_, index) => ({ id: index + 1, dueHint: 0 })),
  } as unknown as RootStore;
  const dataDir = temporaryFolder(t);
  const follower = new Follower({ nats, streams, dataDir, root, clock, checkStore: () => undefined, warn: t.comment });
  t.teardown(() => follower.close());
  /** @returns the requests of a look */
  const look = async () => {
    const before = nats.connection.stats().outMsgs;
    const begunAt = performance.now();
    await follower.find();
    await follower.catchUp(() => true);
    const requests = nats.connection.stats().outMsgs - before;
    t.comment(`${requests} requests, ${Math.round(performance.now() - begunAt)} ms`);
    return requests;
  };
  const openStores = () => [...follower.realms].filter(({ isOpen }) => isOpen).length;
  await look();
  t.equal(follower.followed, count);
  t.equal(openStores(), Math.min(count, limits.cluster_followed_open_max), "the latest ones are open");
  /** Requests are sent again while a stream elects a leader: what more looks need every time is needed. */
  const fewest = async (before: () => Promise<void>) => {
    const counts: number[] = [];
    while (counts.length < looksMax && (counts.at(-1) ?? count) > streamCount) {
      await before();
      counts.push(await look());
    }
    return Math.min(...counts);
  };
  t.equal(await fewest(async () => undefined), streamCount, "nothing is new: one request a stream");
  let turn = 1;
  const requests = await fewest(() => write(8, ++turn));
  t.ok(requests <= streamCount + 4, `one is new: ${requests} requests`);
  t.equal([...follower.realms].find(({ log }) => log.realmId === 8)?.turn, turn);
  clock.advance(limits.cluster_followed_open_ms);
  await look();
  t.equal(openStores(), 0, "nothing has come for a while");
  await write(8, ++turn);
  await look();
  t.equal([...follower.realms].find(({ log }) => log.realmId === 8)?.turn, turn, "it is opened again");
  t.equal(openStores(), 1);
  clock.advance(limits.cluster_follow_all_ms);
  t.ok((await look()) >= count, "now and then all of them");
  for (const journal of journals) await journal.close();
});
