/** Files in a cluster: all nodes have them before a turn claims them, and a node gets what it lacks when it is read. */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { fetchMissingFiles } from "../../src/durability/cluster/missing-files.ts";
import { ObjectBucket } from "../../src/durability/cluster/object-bucket.ts";
import { requested } from "../../src/durability/cluster/request.ts";
import { fetchFile, linkTo, uploaded } from "../support/attachments.ts";
import { temporaryFolder } from "../support/server.ts";
import { NatsCluster, natsObstacle, store } from "./nats.ts";
import { clientAt, served, startNode, urlOf } from "./nodes.ts";

const obstacle = natsObstacle();
if (obstacle !== null) t.plan(0, obstacle);
else {
  t.test("a file that was uploaded is served after its node and the node's disk are gone", async (t) => {
    const cluster = await NatsCluster.start(t);
    const a = { name: "a", dataDir: temporaryFolder(t) };
    const b = { name: "b", dataDir: temporaryFolder(t) };
    const first = startNode(t, cluster, a);
    const owner = await clientAt(await urlOf(first), a.dataDir);
    const credentials = temporaryFolder(t);
    cpSync(join(a.dataDir, "zuliprc"), join(credentials, "zuliprc"));
    await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "kitchen" }] });
    const second = startNode(t, cluster, b);
    await urlOf(second);
    const bytes = Buffer.alloc(3 * limits.cluster_object_chunk_bytes + 5, "soup and bread, ");
    const sent = await uploaded(owner, bytes, '"menu.txt"');
    const post = await owner.post("/messages", {
      type: "channel",
      to: "kitchen",
      topic: "menu",
      content: linkTo(sent),
    });
    t.equal(post.status, 200);
    await first.end("SIGKILL");
    rmSync(a.dataDir, { recursive: true });

    const there = await clientAt(await urlOf(second), credentials);
    const answers = await Promise.all([1, 2, 3].map(() => served(() => fetchFile(there, sent.url))));
    for (const { status, bytes: found } of answers) {
      t.equal(status, 200);
      t.ok(found.equals(bytes), "byte by byte");
    }
    const nats = await cluster.connect(t);
    const bucket = await ObjectBucket.open(nats, "files");
    const names = await bucket.names();
    t.equal(names.length, 1);
    const [claimed = ""] = names;

    // An orphan: a node wrote it and died before its turn.
    await bucket.put("1/uploads/orphan", async function* () {
      yield Buffer.from("nobody's");
    });
    const care = (now: number) =>
      fetchMissingFiles({
        nats: { servers: cluster.servers, name: "care" },
        dataDir: b.dataDir,
        realmIds: [1],
        now,
      });
    t.strictSame(
      await care(Date.now()),
      [{ realmId: 1, sent: 0, removed: 0 }],
      "another node may be about to claim it",
    );
    t.strictSame(await care(Date.now() + limits.cluster_file_grace_ms + 60_000), [{ realmId: 1, sent: 0, removed: 1 }]);
    t.strictSame(await bucket.names(), [claimed], "what a row claims stays");
    await bucket.remove(claimed);
    t.strictSame(await care(Date.now()), [{ realmId: 1, sent: 1, removed: 0 }], "what only this node has is sent");

    // The writer of another one died in between: it has chunks and no name.
    await store(nats, "$O.files.C.unfinished", "chunk");
    const chunks = async () => {
      const { state } = await requested(nats, () =>
        nats.manager.streams.info("OBJ_files", { subjects_filter: "$O.files.C.>" }),
      );
      return Object.keys(state.subjects ?? {}).length;
    };
    await care(Date.now());
    t.equal(await chunks(), 2, "somebody may be writing it");
    await care(Date.now() + limits.cluster_file_grace_ms + 60_000);
    t.equal(await chunks(), 1, "what is left of an upload that was never finished goes");
    t.strictSame(await bucket.names(), [claimed]);

    const { body } = await there.get("/attachments");
    const [attachment] = (body as { attachments: { id: number }[] }).attachments;
    t.equal((await there.delete(`/attachments/${attachment?.id}`)).status, 200);
    while ((await bucket.names()).length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
    t.pass("a file that was deleted is gone everywhere");
    t.equal((await second.end("SIGTERM")).code, 0);
  });
}
