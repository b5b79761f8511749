/** How a node becomes the owner, stops being it, joins and leaves; and what it refuses. */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { type LeaseMessage, openLeases } from "../../src/durability/cluster/leases.ts";
import { NodeWatch } from "../../src/durability/cluster/node-watch.ts";
import type { Client } from "../support/client.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { freePort } from "../support/ports.ts";
import { type Environment, Program, runCli, startProgram } from "../support/process.ts";
import { until } from "../support/realtime.ts";
import { temporaryFolder } from "../support/server.ts";
import { leaderOf, NatsCluster, natsObstacle, store, untilHealthy } from "./nats.ts";
import { clientAt, moveTo, runCluster, served, startNode, urlOf } from "./nodes.ts";

const obstacle = natsObstacle();
if (obstacle !== null) t.plan(0, obstacle);
else {
  t.test("an owner that stood still answers nothing after another node took over, and ends", async (t) => {
    const cluster = await NatsCluster.start(t);
    // The first organization belongs to the node of this name as long as it is there.
    const b = { name: "b", dataDir: temporaryFolder(t) };
    let first = startNode(t, cluster, b);
    let owner = await clientAt(await urlOf(first), b.dataDir);
    await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "kitchen" }] });
    const post = (client: Client, content: string) =>
      client.post(
        "/messages",
        { type: "channel", to: "kitchen", topic: "soup", content },
        { "Idempotency-Key": content },
      );
    await post(owner, "before");
    const second = startNode(t, cluster, { name: "a", dataDir: temporaryFolder(t) });
    const there = await clientAt(await urlOf(second), b.dataDir);
    const twin = startNode(t, cluster, { name: "a", dataDir: temporaryFolder(t) });
    t.match(await twin.exited, { code: 78, stderr: /Another node with the name a is running/ });
    // Its log may have been rotated; it goes on.
    t.ok(second.signal("SIGHUP"), "the node that was there first goes on");
    // A busy machine may keep it from renewing its lease before it is stopped: then it ended, and another process is the owner.
    while (!first.signal("SIGSTOP")) {
      t.equal((await first.exited).code, 75);
      first = startNode(t, cluster, b);
      owner = await clientAt(await urlOf(first), b.dataDir);
      await moveTo(t, cluster, 1, "b");
    }
    // They wait in the sockets of a process that does not know how late it is.
    const late = [owner.get("/users/me"), post(owner, "late")].map((answer) =>
      answer.then(
        () => "answered",
        () => "cut",
      ),
    );
    t.equal((await served(() => post(there, "after"))).status, 200);
    first.signal("SIGCONT");
    t.strictSame(await Promise.all(late), ["cut", "cut"], "neither a read nor a write is answered");
    const { code, stderr } = await first.exited;
    t.equal(code, 75, "a later start may succeed");
    t.match(stderr, /another one may take over|Another node took over/);
    const { body } = await there.get("/messages", { anchor: "newest", num_before: 10, num_after: 0, narrow: [] });
    const contents = (body as { messages: { content: string }[] }).messages.map(({ content }) => content);
    t.strictSame(contents, ["<p>before</p>", "<p>after</p>"]);
  });

  t.test("[D263] CLUSTER_LEASE_MS: an owner that stood still for less goes on, and nobody took over", async (t) => {
    const cluster = await NatsCluster.start(t);
    const b = { name: "b", dataDir: temporaryFolder(t), environment: { CLUSTER_LEASE_MS: "60000" } };
    const first = startNode(t, cluster, b);
    const owner = await clientAt(await urlOf(first), b.dataDir);
    const second = startNode(t, cluster, { name: "a", dataDir: temporaryFolder(t) });
    await urlOf(second);
    const nats = await cluster.connect(t);
    t.ok(first.signal("SIGSTOP"));
    // The second node renews its own lease for longer than it would wait for one of the usual length.
    let renewals = 0;
    nats.connection.subscribe("leases.a", { callback: () => void renewals++ });
    await until(() => renewals * limits.cluster_lease_renewal_ms > 2 * limits.cluster_takeover_ms);
    first.signal("SIGCONT");
    t.equal((await owner.get("/users/me")).status, 200);
    const leader = await leaderOf(nats, "leases");
    const rest = cluster.nodes.filter(({ name }) => name !== leader);
    t.equal(rest.length, 2);
    await cluster.nodes.find(({ name }) => name === leader)?.program.end("SIGKILL");
    await Promise.all(rest.map((node) => untilHealthy(node)));
    t.not(await leaderOf(nats, "leases"), leader);
    t.equal((await owner.get("/users/me")).status, 200, "nor does it end while NATS elects a leader for the leases");
    const { stdout } = await runCluster(t, cluster, ["colloquy.mjs", "cluster", "status"]);
    t.match(stdout, /organization 1: owner b, epoch 1, /);
  });

  t.test("of two nodes with one name that start at the same time, one goes on", async (t) => {
    const cluster = await NatsCluster.start(t);
    const twins = ["first", "second"].map(() => startNode(t, cluster, { name: "a", dataDir: temporaryFolder(t) }));
    const [first, second] = twins as [Program, Program];
    const ended = await Promise.race(twins.map((twin) => twin.exited.then((exited) => ({ twin, exited }))));
    t.match(ended.exited, { code: 78, stderr: /Another node with the name a is running/ });
    const other = ended.twin === first ? second : first;
    const url = await urlOf(other);
    t.equal((await fetch(`${url}/api/v1/server_settings`)).status, 200);
    t.equal((await other.end("SIGTERM")).code, 0);
  });

  t.test("a node goes on while leases of a process arrive that had its name and has ended", async (t) => {
    const cluster = await NatsCluster.start(t);
    const nats = await cluster.connect(t);
    await openLeases(nats);
    const ended = { node: "a", instance: "ended", address: "http://127.0.0.1:1", isReady: true, firstSequence: 1 };
    const lease = JSON.stringify({ ...ended, extraMs: 0, isHeld: true, isEnd: false } satisfies LeaseMessage);
    await store(nats, "leases.a", lease);
    const late = setInterval(() => nats.connection.publish("leases.a", lease), limits.cluster_lease_renewal_ms);
    t.teardown(() => clearInterval(late));
    const a = { name: "a", dataDir: temporaryFolder(t) };
    const owner = await clientAt(await urlOf(startNode(t, cluster, a)), a.dataDir);
    t.equal((await owner.get("/users/me")).status, 200, "only a process that lives has the name");
  });

  t.test("leases that were read from the stream say that a process was there once", async (t) => {
    const cluster = await NatsCluster.start(t);
    const nats = await cluster.connect(t);
    await openLeases(nats);
    const killed = { node: "a", instance: "killed", address: "http://127.0.0.1:1", isReady: true, firstSequence: 1 };
    const lease = { ...killed, extraMs: 0, isHeld: true, isEnd: false } satisfies LeaseMessage;
    await store(nats, "leases.a", JSON.stringify(lease));
    const clock = new ManualClock(0);
    const opening = NodeWatch.open(nats, clock, () => undefined);
    // The stream elects a leader meanwhile.
    clock.advance(limits.cluster_takeover_ms);
    const watch = await opening;
    t.teardown(() => watch.close());
    t.ok(watch.isStable);
    t.notOk(watch.isGone("killed"), "its lease may last");
    t.notOk(watch.isTaken("a", 2), "and it has not the name");
    nats.connection.publish("leases.a", JSON.stringify({ ...lease, instance: "alive" }));
    await until(() => watch.find("alive") !== null);
    t.ok(watch.isTaken("a", 2), "unlike one that is heard");
  });

  t.test("data of a single machine joins a cluster, and leaves it after the owner stopped in order", async (t) => {
    const cluster = await NatsCluster.start(t);
    const dataDir = temporaryFolder(t);
    const status = () => runCluster(t, cluster, ["colloquy.mjs", "cluster", "status"]);
    t.match(await status(), { code: 0, stdout: /no node has joined yet/ });
    const alone = await startProgram(t, dataDir);
    await alone.owner.post("/users/me/subscriptions", { subscriptions: [{ name: "kitchen" }] });
    const post = (client: Client, content: string) =>
      client.post("/messages", { type: "channel", to: "kitchen", topic: "soup", content });
    await post(alone.owner, "in the local journal");
    await alone.program.end("SIGKILL");

    const member = startNode(t, cluster, { name: "a", dataDir });
    await post(await clientAt(await urlOf(member), dataDir), "in the stream");
    // A node that is busy may not say in time what it serves.
    let said = await status();
    while (said.stdout.includes("(does not serve it)")) said = await status();
    t.match(said, { code: 0, stdout: /organization 1: owner a, epoch 1, turn \d+/ });
    await member.end("SIGKILL");
    const refused = await new Program(t, process.execPath, ["colloquy.mjs"], { PORT: "0", DATA_DIR: dataDir }).exited;
    t.match(refused, { code: 78, stderr: /DATA_DIR belongs to a node of a cluster .* Set CLUSTER_NATS/ });
    const changed = await runCli(t, dataDir, "rebuild-search");
    t.match(changed, { code: 1, stderr: /DATA_DIR is a node of a cluster/ });

    const foreign = temporaryFolder(t);
    await (await startProgram(t, foreign)).program.end("SIGTERM");
    const mixed = await startNode(t, cluster, { name: "b", dataDir: foreign }).exited;
    t.match(mixed, { code: 78, stderr: /which is not a node of this cluster. Start with an empty DATA_DIR/ });

    const again = startNode(t, cluster, { name: "a", dataDir });
    await urlOf(again);
    t.equal((await again.end("SIGTERM")).code, 0);
    const left = await startProgram(t, dataDir);
    const { body } = await left.owner.get("/messages", {
      anchor: "newest",
      num_before: 10,
      num_after: 0,
      narrow: [],
    });
    const contents = (body as { messages: { content: string }[] }).messages.map(({ content }) => content);
    t.strictSame(contents, ["<p>in the local journal</p>", "<p>in the stream</p>"]);
  });

  t.test("a node refuses servers that cannot keep the promise with one line and code 78", async (t) => {
    const lazy = await NatsCluster.start(t, { syncInterval: "2m" });
    const start = (environment: Environment) =>
      startNode(t, lazy, { name: "a", dataDir: temporaryFolder(t), environment }).exited;
    t.match(await start({}), { code: 78, stderr: /^colloquy: NATS server n\d .*Set "sync_interval: always"[^\n]*\n$/ });
    const nowhere = `127.0.0.1:${await freePort()}`;
    const silent = await start({ CLUSTER_NATS_MONITOR: Array(3).fill(`http://${nowhere}`).join(",") });
    t.match(silent, { code: 75, stderr: /0 of 3 NATS servers .* answer/ }, "unless none answers: it may be cut off");
    t.match(await start({ CLUSTER_NATS: "http://a" }), { code: 78, stderr: /CLUSTER_NATS cannot be used/ });
    t.match(await start({ CLUSTER_NATS_MONITOR: "" }), { code: 78, stderr: /are needed together/ });
    t.match(await start({ ARCHIVE_DIR: "/tmp" }), { code: 78, stderr: /ARCHIVE_DIR cannot be used with CLUSTER_NATS/ });
  });
}
