/** Snapshots of stores: made and verified, restored on a node that starts empty, and what the stream forgets then. */
import { readdirSync } from "node:fs";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { headOf } from "../../src/durability/cluster/claim.ts";
import type { Nats } from "../../src/durability/cluster/connection.ts";
import { ObjectBucket } from "../../src/durability/cluster/object-bucket.ts";
import { RealmLog } from "../../src/durability/cluster/realm-log.ts";
import { requested } from "../../src/durability/cluster/request.ts";
import { SnapshotMaker } from "../../src/durability/cluster/snapshot-maker.ts";
import { SnapshotSchedule } from "../../src/durability/cluster/snapshot-schedule.ts";
import { type Snapshot, Snapshots } from "../../src/durability/cluster/snapshots.ts";
import { findStreams, openStreams } from "../../src/durability/cluster/streams.ts";
import { openLmdb } from "../../src/store/lmdb.ts";
import { realmFolder } from "../../src/store/realm-folders.ts";
import { turnNumberIn } from "../../src/store/turn-number.ts";
import { type Breakage, brokenModule } from "../support/broken-checkout.ts";
import type { Client } from "../support/client.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { temporaryFolder } from "../support/server.ts";
import { NatsCluster, natsObstacle, store } from "./nats.ts";
import { clientAt, runCluster, served, startNode, urlOf } from "./nodes.ts";

const obstacle = natsObstacle();
if (obstacle !== null) t.plan(0, obstacle);
else {
  const post = (client: Client, content: string) =>
    client.post("/messages", { type: "channel", to: "kitchen", topic: "soup", content });

  const contentsAt = async (client: Client) => {
    const page = { anchor: "newest", num_before: 100, num_after: 0, narrow: [] };
    const { body } = await served(() => client.get("/messages", page));
    return (body as { messages: { content: string }[] }).messages.map(({ content }) => content);
  };

  t.test("a node that starts empty restores the newest whole snapshot, then the rest of the stream", async (t) => {
    const cluster = await NatsCluster.start(t);
    const a = { name: "a", dataDir: temporaryFolder(t) };
    const first = startNode(t, cluster, a);
    const owner = await clientAt(await urlOf(first), a.dataDir);
    await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "kitchen" }] });
    const nats = await cluster.connect(t);
    const streams = await openStreams(nats, { streams: 2 });
    const log = new RealmLog(nats, streams, 1);
    const snapshots = new Snapshots(nats);
    const snapshot = async () => {
      const { code, stdout, stderr } = await runCluster(t, cluster, ["colloquy.mjs", "cluster", "snapshot"], {
        DATA_DIR: a.dataDir,
        CLUSTER_NODE: "a",
      });
      t.strictSame([code, stderr], [0, ""]);
      return stdout;
    };
    const postAndSnapshot = async (content: string) => {
      await post(owner, content);
      await untilStored(log, a.dataDir);
      t.match(await snapshot(), /organization 1: snapshot of turn \d+, \d+ bytes, verified/);
    };
    const beginning = (await log.next(1))?.sequence;
    await postAndSnapshot("one");
    t.equal((await log.next(1))?.sequence, beginning, "the first snapshot makes the stream forget nothing");
    await postAndSnapshot("two");
    const { snapshots: listed } = await snapshots.of(1);
    t.equal(listed.length, limits.cluster_snapshots_kept);
    const [newer, older] = listed as [Snapshot, Snapshot];
    t.equal((await log.next(1))?.sequence, older.sequence, "what both snapshots have is gone");
    t.match(await snapshot(), /the newest snapshot has everything/);
    await postAndSnapshot("three");
    const now = (await snapshots.of(1)).snapshots as [Snapshot, Snapshot];
    t.strictSame(now[1], newer, "the newest two are kept");
    const objects = await ObjectBucket.open(nats, "stores");
    t.equal(await objects.find(older.object), null, "the one before them is removed");
    const found = readdirSync(a.dataDir).filter((name) => name.startsWith("copy-"));
    t.strictSame(found, [], "no copy is left");
    await post(owner, "four");
    await untilStored(log, a.dataDir);
    await t.rejects(damagingMaker(nats, a.dataDir, temporaryFolder(t)).make(log), { name: "ObjectDamaged" });
    t.strictSame((await snapshots.of(1)).snapshots, now, "what is damaged on its way is not listed");
    t.equal((await log.next(1))?.sequence, newer.sequence, "and the stream forgets nothing for it");

    // A byte of the newest one rots.
    await damage(nats, now[0].object);
    const b = { name: "b", dataDir: temporaryFolder(t) };
    const second = startNode(t, cluster, b);
    await second.complained(/snapshot of organization 1 at turn \d+ cannot be used: .*An older one is tried/);
    await urlOf(second);
    await first.end("SIGKILL");
    const there = await clientAt(await urlOf(second), a.dataDir);
    t.strictSame(
      await contentsAt(there),
      ["one", "two", "three", "four"].map((text) => `<p>${text}</p>`),
    );

    // A node whose store is older than the stream: the snapshot takes its place.
    await post(there, "five");
    for (const content of ["six", "seven"]) {
      await untilStored(log, b.dataDir);
      const made = await runCluster(t, cluster, ["colloquy.mjs", "cluster", "snapshot", "--json"], {
        DATA_DIR: b.dataDir,
      });
      t.match(JSON.parse(made.stdout), { snapshots: [{ organization: 1, made: { turn: Number } }], problems: [] });
      await post(there, content);
    }
    const again = startNode(t, cluster, a);
    await again.complained(/The store of organization 1 is too old: the newest snapshot takes its place/);
    await urlOf(again);
    await second.end("SIGTERM");
    const back = await clientAt(await urlOf(again), a.dataDir);
    t.equal((await contentsAt(back)).at(-1), "<p>seven</p>");
    t.equal((await again.end("SIGTERM")).code, 0);

    const gone = await snapshots.of(1);
    for (const { object } of gone.snapshots) await damage(nats, object);
    const refused = await startNode(t, cluster, { name: "c", dataDir: temporaryFolder(t) }).exited;
    t.match(refused, { code: 78, stderr: /No snapshot of organization 1 can be used/ });

    await provePurgesFirstIsFound(t, nats, a.dataDir);
  });

  t.test("an object is sent and read in chunks, and damage is found at the latest at its end", async (t) => {
    const cluster = await NatsCluster.start(t);
    const nats = await cluster.connect(t);
    const objects = await ObjectBucket.open(nats, "stores");
    for (const bytes of [0, 1, limits.cluster_object_chunk_bytes, 3 * limits.cluster_object_chunk_bytes + 7]) {
      const content = Buffer.alloc(bytes, "colloquy");
      const stored = await objects.put(`of ${bytes}`, async function* () {
        yield content.subarray(0, 1000);
        yield content.subarray(1000);
      });
      t.equal(stored.bytes, bytes);
      const chunks: Uint8Array[] = [];
      for await (const chunk of objects.read(`of ${bytes}`)) chunks.push(chunk);
      t.ok(Buffer.concat(chunks).equals(content));
      t.ok(chunks.every(({ length }) => length <= limits.cluster_object_chunk_bytes));
    }
    await damage(nats, "of 1");
    await t.rejects(readWhole(objects, "of 1"), { name: "ObjectDamaged", message: /the hash differs|ends after/ });
    await objects.remove("of 0");
    await t.rejects(readWhole(objects, "of 0"), { name: "ObjectDamaged", message: /is not there/ });
    const { state } = await requested(nats, () =>
      nats.manager.streams.info("OBJ_stores", { subjects_filter: "$O.stores.M.>" }),
    );
    t.equal(Object.keys(state.subjects ?? {}).length, 3, "nothing of a removed one is left");

    const broken = objects.put("cut", async function* () {
      yield Buffer.alloc(10);
      throw new Error("the disk failed");
    });
    await t.rejects(broken, { message: /do not store cut: the disk failed/ });
    t.equal(await objects.find("cut"), null, "nothing is seen of what was not sent as a whole");
  });

  t.test("a snapshot is due by size and by age, and a node that follows comes before the owner", async (t) => {
    const cluster = await NatsCluster.start(t);
    const nats = await cluster.connect(t);
    await openStreams(nats, { streams: 2 });
    const streams = await findStreams(nats);
    if (streams === null) throw new Error("no streams");
    const time = new ManualClock(0);
    // The test looks, and no timer.
    const clock = { now: () => time.now(), after: () => () => undefined };
    const made: string[] = [];
    const scheduleOf = (name: string, isOwner: boolean) =>
      new SnapshotSchedule({
        nats,
        streams,
        snapshots: new Snapshots(nats),
        clock,
        bytes: 1000,
        ageMs: 3_600_000,
        owns: () => isOwner,
        stored: () => [1],
        run: async () => void made.push(name),
        warn: (line) => t.fail(line),
      });
    const [follower, owner] = [scheduleOf("follower", false), scheduleOf("owner", true)];
    const look = async () => {
      made.length = 0;
      await follower.look();
      await owner.look();
      return [...made];
    };
    t.strictSame(await look(), [], "nothing was written");
    const subject = streams.subjectOf(1);
    await store(nats, subject, Buffer.alloc(500));
    t.strictSame(await look(), [], "half of the size");
    time.advance(3_600_000);
    t.strictSame(await look(), ["follower"], "an hour");
    time.advance(1_800_000);
    t.strictSame(await look(), ["follower", "owner"], "nobody has made one for half an hour more");
    const late = [scheduleOf("follower", false), scheduleOf("owner", true)];
    await store(nats, subject, Buffer.alloc(600));
    made.length = 0;
    for (const schedule of late) await schedule.look();
    t.strictSame(made, ["follower"], "the size");
    await store(nats, subject, Buffer.alloc(600));
    made.length = 0;
    for (const schedule of late) await schedule.look();
    t.strictSame(made, ["follower", "owner"], "half as much again");
    for (const schedule of [follower, owner, ...late]) schedule.end();
  });
}

/** Resolves when the store has everything that the stream has: checkpoints are made after some time. */
async function untilStored(log: RealmLog, dataDir: string): Promise<void> {
  for (;;) {
    const lmdb = openLmdb(realmFolder(dataDir, log.realmId));
    const turn = turnNumberIn(lmdb);
    await lmdb.close();
    if (turn === (await headOf(log)).position) return;
    await new Promise((resolve) => setTimeout(resolve, limits.checkpoint_interval_ms / 3));
  }
}

/** Some bytes rot: another chunk of the same size takes the place of the first one. */
async function damage(nats: Nats, name: string): Promise<void> {
  const { streams } = nats.manager;
  const token = Buffer.from(name).toString("base64").replaceAll("+", "-").replaceAll("/", "_");
  const meta = await requested(nats, () => streams.getMessage("OBJ_stores", { last_by_subj: `$O.stores.M.${token}` }));
  const { nuid } = meta?.json<{ nuid: string }>() ?? { nuid: "" };
  const filter = `$O.stores.C.${nuid}`;
  const first = await requested(nats, () => streams.getMessage("OBJ_stores", { last_by_subj: filter }));
  await requested(nats, () => streams.purge("OBJ_stores", { filter }));
  await store(nats, filter, Buffer.alloc(first?.data.length ?? 0, 7));
}

/** Its snapshots rot as soon as they are sent. */
const purgesFirst: readonly Breakage[] = [
  {
    file: "src/durability/cluster/snapshot-maker.ts",
    from: "      await this.#verify(objects, object, { draft, turn, sha256 });\n",
    to: "",
  },
  {
    file: "src/durability/cluster/snapshot-maker.ts",
    from: "      await this.#list(log, list, made);\n",
    to: "      await this.#list(log, list, made);\n      await this.#verify(objects, object, { draft, turn, sha256 });\n",
  },
];

/** A program that lets the stream forget before it has verified what it sent does not pass the checks above. */
async function provePurgesFirstIsFound(t: Test, nats: Nats, dataDir: string): Promise<void> {
  const log = new RealmLog(nats, await openStreams(nats, { streams: 2 }), 1);
  const snapshots = new Snapshots(nats);
  const before = { listed: (await snapshots.of(1)).snapshots, first: await log.next(1) };
  type Maker = { readonly SnapshotMaker: typeof SnapshotMaker };
  const broken = await brokenModule<Maker>(t, purgesFirst, "src/durability/cluster/snapshot-maker.ts");
  const maker = damagingMaker(nats, dataDir, temporaryFolder(t), broken.SnapshotMaker);
  await t.rejects(maker.make(log), { name: "ObjectDamaged" });
  t.notSame((await snapshots.of(1)).snapshots, before.listed, "what is damaged is listed");
  t.not((await log.next(1))?.sequence, before.first?.sequence, "and the stream has forgotten what it would need");
}

function damagingMaker(nats: Nats, dataDir: string, drafts: string, Maker = SnapshotMaker): SnapshotMaker {
  const snapshots = new Snapshots(nats);
  const opened = ObjectBucket.open(nats, "stores").then((bucket) => {
    const put = bucket.put.bind(bucket);
    bucket.put = async (name, source) => {
      const stored = await put(name, source);
      await damage(nats, name);
      return stored;
    };
    return bucket;
  });
  Object.defineProperty(snapshots, "objects", { get: () => opened });
  return new Maker({ dataDir, drafts, snapshots, node: "a", now: () => 1, freeBytesMin: 0 });
}

async function readWhole(objects: ObjectBucket, name: string): Promise<void> {
  for await (const _chunk of objects.read(name));
}
