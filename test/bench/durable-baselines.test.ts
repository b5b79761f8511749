// The durable baselines on a disk whose flushes take longer (bench/native/slow-flush.c): each answers a post after the
// flush that covers it, and the flush is shared.

import { execFileSync } from "node:child_process";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { runJob } from "../../bench/lib/generator-process.ts";
import { buildRequest } from "../../bench/lib/http-request.ts";
import { hasCompiler } from "../../bench/lib/native.ts";
import { startBaseline } from "../../bench/lib/target.ts";
import { openWorkspace } from "../../bench/lib/workspace.ts";

const workspace = openWorkspace();
t.teardown(() => workspace.remove());
const HOST = "127.0.0.1";
const FORM = { type: "channel", to: "1", topic: "t", content: "hello" };

const slowFlush = hasCompiler() ? workspace.native("slow-flush") : null;
const withoutCompiler = slowFlush === null ? "there is no compiler of C (Debian package build-essential)" : false;
const FLUSH_DELAY_MS = 60;
const slowDisk = { LD_PRELOAD: slowFlush ?? "", FLUSH_DELAY_US: String(FLUSH_DELAY_MS * 1000) };

t.test("fsync and fdatasync take the given time longer", { skip: withoutCompiler }, async (t) => {
  const file = join(t.testdir(), "file");
  const flush = `const fs = require("node:fs"); const file = fs.openSync(${JSON.stringify(file)}, "w");
    for (const flush of [fs.fsyncSync, fs.fdatasyncSync]) {
      const from = performance.now(); flush(file); console.log(performance.now() - from);
    }`;
  const output = execFileSync(process.execPath, ["-e", flush], {
    encoding: "utf8",
    env: { ...process.env, ...slowDisk },
  });
  const times = output.trim().split("\n").map(Number);
  t.equal(times.length, 2);
  for (const time of times) t.ok(time >= FLUSH_DELAY_MS, `${time} ms`);
});

for (const [program, label] of [
  ["baselines/send", "baseline"],
  ["baselines/journal", "journal"],
] as const) {
  t.test(`${label}: a post is answered after its flush`, { skip: withoutCompiler }, async (t) => {
    const target = await startBaseline({ workspace, program, label, environment: slowDisk });
    const cycles = [
      [buildRequest({ method: "POST", path: "/api/v1/messages", authorization: null, form: FORM, host: HOST })],
    ];
    const pace = { warmupMs: 0, durationMs: 500, ratePerSecond: 100 };
    const result = await runJob(workspace, {
      kind: "http-load",
      address: target.address,
      watch: null,
      cycles,
      connections: 20,
      pace,
    });
    t.same(result.failures, { statuses: {}, firstBody: "", brokenConnections: 0, firstBreak: "", unanswered: 0 });
    t.ok(result.latency.count > 0);
    const [shortest = 0] = result.latency.percentilesMs;
    t.ok(shortest >= FLUSH_DELAY_MS, `the shortest latency is ${shortest} ms`);
    t.same(await target.stop(), { code: 0, signal: null, killed: false });
  });
}

t.test("posts share the flush of a journal", { skip: withoutCompiler }, async (t) => {
  const flushes = join(t.testdir(), "flushes");
  const environment = { ...slowDisk, FLUSH_LOG: flushes };
  const target = await startBaseline({ workspace, program: "baselines/journal", label: "journal", environment });
  t.teardown(() => target.stop());
  const posts = Array.from({ length: 20 }, () =>
    fetch(`http://${HOST}:${target.address.port}/api/v1/messages`, { method: "POST", body: new URLSearchParams(FORM) }),
  );
  writeFileSync(flushes, "");
  const ids = await Promise.all(posts.map(async (post) => ((await (await post).json()) as { readonly id: number }).id));
  const found = ids.toSorted((a, b) => a - b);
  t.same(
    found,
    Array.from({ length: 20 }, (_, index) => index + 1),
  );
  const { size } = statSync(flushes);
  t.ok(size > 0 && size < 20, `there are fewer flushes than posts: ${size}`);
});
