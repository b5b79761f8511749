// The installed peers, with tiny scenarios: a whole run, and the semantics by which a peer is compared. A peer that is
// not installed is skipped with a line that says how to install it.

import { existsSync } from "node:fs";
import t from "tap";
import { Child } from "../../bench/lib/child.ts";
import { readCpuSeconds, readTreeCpuSeconds } from "../../bench/lib/process-usage.ts";
import { startProgress } from "../../bench/lib/progress.ts";
import { runScenario } from "../../bench/lib/runner.ts";
import { PEER_NAMES } from "../../bench/lib/target.ts";
import { openWorkspace } from "../../bench/lib/workspace.ts";
import { peerKinds, skipLine } from "../../bench/peers/all.ts";
import { nodePeer } from "../../bench/peers/node-peer.ts";
import type { PeerKind } from "../../bench/peers/peer.ts";
import { scenarios } from "../../bench/scenarios/all.ts";
import { COUNTED } from "../support/scenarios.ts";

const workspace = openWorkspace();
t.teardown(() => workspace.remove());

const run = (name: string, peers: readonly PeerKind[]) => {
  const scenario = scenarios.find((one) => one.name === name);
  if (scenario === undefined) throw new Error(`no scenario ${name}`);
  const progress = startProgress({ isTTY: false } as NodeJS.WriteStream);
  return runScenario(scenario, { size: "tiny", overrides: {}, seed: 1, server: null, workspace, progress, peers });
};

const installed = PEER_NAMES.map((name) => peerKinds[name]).filter((kind) => kind.missing() === null);

for (const { name, supportsPeers } of scenarios) {
  if (supportsPeers !== true) continue;
  const skip = installed.length > 0 ? false : PEER_NAMES.map((one) => skipLine(peerKinds[one])).join("\n");
  t.test(`${name}, tiny, reports every installed peer with this server and the baseline`, { skip }, async (t) => {
    const result = await run(name, installed);
    const found = result.checks.filter(({ ok }) => !ok);
    t.same(found, []);
    for (const kind of installed) {
      for (const key of COUNTED[name] ?? []) {
        // Not every peer writes a metrics file with its event-loop delay.
        if (key.endsWith("loop_delay_p99_ms")) continue;
        const { value, ratio } = result.measures.find((measure) => measure.key === key)?.peers?.[kind.name] ?? {};
        // In so short a time a peer on a busy machine may complete nothing. The phase at a fixed rate shows that it
        // works.
        const isRate = key.endsWith("_per_s");
        t.ok(isRate ? value !== undefined : (value?.median ?? 0) > 0, `${key} of ${kind.name}`);
        t.ok(isRate || (ratio?.median ?? 0) > 0, "the ratio of this server to the peer");
      }
      t.ok(
        result.series.every(({ lines }) => lines.some(({ label }) => label === kind.name)),
        "its lines are plotted",
      );
      t.ok(result.checks.some(({ name: check }) => check === `${kind.name}: the newest message can be read back`));
    }
    t.same(JSON.parse(JSON.stringify(result)), result, "the result survives JSON");
  });
}

for (const kind of PEER_NAMES.map((name) => peerKinds[name])) {
  t.test(`${kind.name} leaves nothing behind`, { skip: skipLine(kind) ?? false }, async (t) => {
    const peer = await kind.start({ workspace, accounts: 2, seed: 1 });
    const pids = [peer.watch?.pid ?? 0, ...(peer.watch?.trees ?? [])];
    for (const pid of pids) t.ok(existsSync(`/proc/${pid}`));
    t.match(await peer.stop(), { code: 0, killed: false });
    for (const pid of pids) t.notOk(existsSync(`/proc/${pid}`));
  });
}

t.test("fastify rejects unknown users and non-members", { skip: skipLine(peerKinds.fastify) ?? false }, async (t) => {
  const peer = await peerKinds.fastify.start({ workspace, accounts: 1, seed: 1 });
  t.teardown(() => peer.stop());
  const [key = ""] = peer.receivers(1).authorizations;
  const post = async (channel: number, authorization: string) => {
    const response = await fetch(`http://${peer.address.host}:${peer.address.port}/channels/${channel}/messages`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify({ topic: "t", content: "hello" }),
    });
    return response.status;
  };
  t.same(
    [await post(1, key), await post(1, "Bearer nobody"), await post(2, key), await post(1, "")],
    [200, 401, 403, 401],
  );
  t.equal(await peer.newestContent(), "hello");
});

t.test("a peer that is not installed is skipped with a message", async (t) => {
  const kind = nodePeer("fastify", t.testdir());
  const line = skipLine(kind) ?? "";
  t.match(line, /^peer fastify is not installed and is skipped: npm ci --prefix bench\/peers\/fastify/);
  t.notMatch(line, /\n/);
  const result = await run("send", [kind]);
  t.ok(result.notes.includes(line), "the report says so");
  t.ok(result.measures.every((measure) => measure.peers?.["fastify"] === undefined));
  const found = result.checks.filter(({ ok }) => !ok);
  t.same(found, []);
});

t.test("the CPU of a peer includes all its processes, also those that have exited", async (t) => {
  const busy = "const until = process.cpuUsage().user + 300_000; while (process.cpuUsage().user < until);";
  const child = new Child({
    arguments: [
      "-e",
      `require("node:child_process").spawnSync(process.execPath, ["-e", ${JSON.stringify(busy)}]); process.on("message", () => {}); process.send("done")`,
    ],
    folder: workspace.folder,
    channel: true,
    environment: {},
  });
  await new Promise((resolve) => child.process.once("message", resolve));
  // It listens on its channel, so it runs until it is stopped.
  const own = readCpuSeconds(child.pid) ?? 0;
  const tree = readTreeCpuSeconds(child.pid) ?? 0;
  t.ok(tree - own >= 0.3, `${tree} and ${own}`);
  await child.stop();
  t.equal(readTreeCpuSeconds(child.pid), null);
});
