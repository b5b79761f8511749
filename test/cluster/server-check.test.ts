/** A node relies only on NATS servers that keep what a cluster promises; otherwise it says what to change. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { parseNatsAddresses } from "../../src/durability/cluster/addresses.ts";
import { connectNats } from "../../src/durability/cluster/connection.ts";
import { requested } from "../../src/durability/cluster/request.ts";
import { checkServers } from "../../src/durability/cluster/server-check.ts";
import { openStreams } from "../../src/durability/cluster/streams.ts";
import { freePort } from "../support/ports.ts";
import { NatsCluster, natsObstacle } from "./nats.ts";

/** A monitoring page as a NATS server shows it, with some values changed. */
async function pageOf(t: Test, id: string, changed: object | string = {}): Promise<string> {
  const page = {
    server_id: id,
    server_name: id,
    version: "2.15.2",
    jetstream: { config: { sync_always: true }, meta: { cluster_size: 3 } },
    ...(typeof changed === "string" ? {} : changed),
  };
  const text = typeof changed === "string" ? changed : JSON.stringify(page);
  const server = createServer((_request, response) => response.end(text));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const cases: readonly { readonly what: string; readonly changed: object; readonly advice: RegExp }[] = [
  { what: "is too old", changed: { version: "2.14.9" }, advice: /version 2\.14\.9, which is too old.*Install 2\.15/ },
  { what: "has no JetStream", changed: { jetstream: {} }, advice: /without JetStream\. Add "jetstream/ },
  {
    what: "acknowledges before it flushes",
    changed: { jetstream: { config: {}, meta: { cluster_size: 3 } } },
    advice: /Set "sync_interval: always"/,
  },
  {
    what: "has one peer only",
    changed: { jetstream: { config: { sync_always: true }, meta: { cluster_size: 2 } } },
    advice: /a cluster of 2, and 3 servers are needed/,
  },
];

for (const { what, changed, advice } of cases) {
  t.test(`a NATS server that ${what} is rejected with a line that says what to change`, async (t) => {
    const good = [await pageOf(t, "a"), await pageOf(t, "b")];
    t.strictSame(await checkServers([...good, await pageOf(t, "c")]), [], "three good ones are accepted");
    await t.rejects(checkServers([...good, await pageOf(t, "c", changed)]), {
      name: "ClusterUnusable",
      message: advice,
    });
  });
}

t.test("one server of three may be down, two may not", async (t) => {
  const [a, b] = [await pageOf(t, "a"), await pageOf(t, "b")];
  const down = `http://127.0.0.1:${await freePort()}`;
  t.strictSame(await checkServers([a, b, down]), [`NATS server ${down} does not answer`]);
  await t.rejects(
    checkServers([a, down, down]),
    { name: "ClusterSilent", message: /1 of 3 NATS servers .* answer, and 2 are needed/ },
    "a later start may succeed",
  );
  await t.rejects(
    checkServers([a, a, a]),
    { name: "ClusterUnusable", message: /1 of 3 NATS servers/ },
    "one server under three addresses is one",
  );
  await t.rejects(checkServers([a, b]), { message: /names 2 NATS servers, and 3 are needed/ });
});

t.test("[S3] cluster_monitor_bytes_max: a page that is larger, or none of a NATS server, does not count", async (t) => {
  const [a, b] = [await pageOf(t, "a"), await pageOf(t, "b")];
  const text = JSON.stringify({ server_id: "c", version: "1.0.0" });
  const fitting = await pageOf(t, "c", text.padEnd(limits.cluster_monitor_bytes_max));
  await t.rejects(checkServers([a, b, fitting]), { message: /version 1\.0\.0/ }, "at the bound it is read");
  const large = await pageOf(t, "c", text.padEnd(limits.cluster_monitor_bytes_max + 1));
  t.equal((await checkServers([a, b, large])).length, 1);
  t.equal((await checkServers([a, b, await pageOf(t, "c", "<html>")])).length, 1);
});

t.test("CLUSTER_NATS names servers, with or without a user", async (t) => {
  t.strictSame(parseNatsAddresses("nats://a,b:4223,[::1]:4224"), { servers: ["a:4222", "b:4223", "[::1]:4224"] });
  const both = { servers: ["a:4222", "b:4223"] };
  t.strictSame(parseNatsAddresses("nats://a,nats://b:4223"), both, "as other programs write it");
  t.strictSame(parseNatsAddresses("tls://a,tls://b:4223"), both);
  const me = { user: "me", password: "p@ss" };
  t.strictSame(parseNatsAddresses("nats://me:p%40ss@a,nats://me:p%40ss@b:4223"), { ...both, ...me });
  t.strictSame(parseNatsAddresses("nats://me:p%40ss@a,b:4223"), { ...both, ...me });
  for (const differ of [
    "nats://a,tls://b",
    "nats://me:x@a,nats://you:x@b",
    "nats://me:x@a,nats://b",
    "nats://a,me:x@b",
  ]) {
    t.equal(parseNatsAddresses(differ), null, differ);
  }
  t.strictSame(parseNatsAddresses("nats://me:p%40ss@a"), { servers: ["a:4222"], user: "me", password: "p@ss" });
  for (const wrong of [
    "a",
    "http://a",
    "nats://",
    "nats://a b",
    "nats://me@a",
    "nats://a,,b",
    `nats://${"a,".repeat(limits.cluster_addresses_max)}a`,
  ]) {
    t.equal(parseNatsAddresses(wrong), null, wrong.slice(0, 40));
  }
});

t.test("a node says that no NATS server answers", async (t) => {
  const servers = [`127.0.0.1:${await freePort()}`];
  await t.rejects(connectNats({ servers, name: "a" }), {
    name: "ClusterSilent",
    message: /No NATS server of CLUSTER_NATS answers .*Start the servers/,
  });
});

const obstacle = natsObstacle();

t.test("a command gives up when all NATS servers are gone", { skip: obstacle ?? false }, async (t) => {
  const cluster = await NatsCluster.start(t, { nodes: 1 });
  const nats = await connectNats({ servers: cluster.servers, name: "command", reconnectsMax: 2 });
  t.teardown(() => nats.close());
  await requested(nats, () => nats.manager.streams.names().next());
  for (const { program } of cluster.nodes) await program.end("SIGKILL");
  await nats.connection.closed();
  await nats.onceConnected();
  await t.rejects(requested(nats, () => nats.manager.streams.info("turns-0")));
});

t.test("real servers: without a flush before an acknowledgement, or alone", { skip: obstacle ?? false }, async (t) => {
  const lazy = await NatsCluster.start(t, { syncInterval: "2m" });
  await t.rejects(checkServers(lazy.monitor.split(",")), { message: /Set "sync_interval: always"/ });
  const alone = await NatsCluster.start(t, { nodes: 1 });
  await t.rejects(checkServers(Array(3).fill(alone.monitor)), { message: /has no peers, and 3 servers are needed/ });
});

t.test("streams that somebody else created or changed are rejected", { skip: obstacle ?? false }, async (t) => {
  const cluster = await NatsCluster.start(t);
  t.strictSame(await checkServers(cluster.monitor.split(",")), [], "three servers as they should be");
  const nats = await cluster.connect(t);
  const both = await Promise.all([openStreams(nats, { streams: 3 }), openStreams(nats, { streams: 3 })]);
  const counts = both.map(({ count }) => count);
  t.strictSame(counts, [3, 3], "two nodes may create them at once");
  t.equal((await openStreams(nats, { streams: 5 })).count, 3, "a cluster keeps its number");
  const { streams } = nats.manager;
  await requested(nats, () => streams.update("turns-1", { max_age: 3_600_000_000_000 }));
  await t.rejects(openStreams(nats, { streams: 3 }), {
    name: "ClusterUnusable",
    message: /The stream turns-1 has max_age=3600000000000 and needs 0/,
  });
  await requested(nats, () => streams.delete("turns-0"));
  const before = { name: "turns-0", subjects: ["turns.0.*"], metadata: { "colloquy-streams": "3" } };
  await requested(nats, () => streams.add(before));
  await t.rejects(openStreams(nats, { streams: 3 }), {
    name: "UnknownFormat",
    message: "the cluster was written before the first release, and no release reads it: start anew",
  });
  await requested(nats, () => streams.delete("turns-0"));
  await requested(nats, () => streams.add({ name: "turns-0", subjects: ["other"] }));
  await t.rejects(openStreams(nats, { streams: 3 }), { message: /turns-0 was not created by Colloquy/ });
});
