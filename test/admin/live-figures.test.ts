/** The figures of the operator's page and their last hour (docs/metrics.md, The live page). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { Histogram } from "../../src/metrics/instruments.ts";
import { type Figure, History } from "../../src/operate/admin/history.ts";
import { askAdmin } from "../support/admin.ts";
import { checkout } from "../support/process.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { startTestServer } from "../support/server.ts";
import { Socket } from "../support/socket.ts";

interface Live {
  readonly next: number;
  readonly at: readonly number[];
  readonly started_at: number;
  readonly unready: string | null;
  readonly values: Readonly<Record<string, readonly (number | null)[]>>;
  readonly metrics: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

async function liveOf(dataDir: string, after = 0): Promise<Live> {
  return JSON.parse((await askAdmin(dataDir, `/admin/live?after=${after}`)).body) as Live;
}

const counting = (): Figure => {
  let count = 0;
  return { name: "count", metric: "colloquy_sockets", read: () => count++ };
};

t.test("[S3] live_samples_max: an hour of samples is kept, and the oldest gives way", async (t) => {
  const history = new History([counting()]);
  const { live_samples_max: max } = limits;
  t.equal(max * limits.live_sample_ms, 3_600_000, "an hour");
  t.strictSame(history.since(0), { next: 0, at: [], values: { count: [] } });
  for (let at = 0; at < max; at++) history.take(at, 5);
  t.equal(history.since(0).values["count"]?.length, max);
  t.equal(history.since(0).values["count"]?.[0], 0);
  history.take(max, 5);
  const { next, at, values } = history.since(0);
  t.equal(next, max + 1);
  t.strictSame([at.length, at[0], at.at(-1)], [max, 1, max]);
  t.strictSame([values["count"]?.length, values["count"]?.[0], values["count"]?.at(-1)], [max, 1, max]);
  t.strictSame(history.since(max), { next, at: [max], values: { count: [max] } }, "only what is new");
  t.strictSame(history.since(next), { next, at: [], values: { count: [] } });
  t.strictSame(history.since(next + 5), { next, at: [], values: { count: [] } }, "a number that does not exist yet");
});

t.test("a quantile is that of the durations since the sample before", async (t) => {
  const histogram = new Histogram();
  const before = histogram.snapshot();
  t.ok(Number.isNaN(histogram.quantileSince(before, 0.5)), "none");
  for (let count = 0; count < 98; count++) histogram.observe(1.5);
  for (let count = 0; count < 2; count++) histogram.observe(150);
  const [median, p99] = [0.5, 0.99].map((quantile) => histogram.quantileSince(before, quantile)) as [number, number];
  t.ok(median > 0.001 && median <= 0.002, `${median} is in the bucket of 1 to 2 ms`);
  t.ok(p99 > 0.1 && p99 <= 0.2, `${p99} is in the bucket of 100 to 200 ms`);
  const later = histogram.snapshot();
  histogram.observe(60_000);
  t.equal(histogram.quantileSince(later, 0.5), 10, "longer than the last bound");
});

t.test("requests, posts, deliveries, sockets and turns of each five seconds", async (t) => {
  const { server, clock } = await startClockedServer(t);
  const { dataDir, owner } = server;
  const socket = new Socket(server.url, { as: owner });
  await socket.opened();
  clock.advance(limits.live_sample_ms);
  for (let count = 0; count < 10; count++) {
    await owner.post("/messages", { type: "direct", to: JSON.stringify([2]), content: "Counted" });
  }
  await owner.get("/no-such-path");
  clock.advance(limits.live_sample_ms);
  const first = await liveOf(dataDir);
  t.equal(first.next, 2);
  const found = first.at.map((at, index) => at - (first.at[index - 1] ?? at - 5000));
  t.strictSame(found, [5000, 5000]);
  const newest = (name: string) => first.values[name]?.at(-1);
  t.equal(newest("requests_per_second"), 11 / 5);
  t.equal(newest("posts_per_second"), 2);
  t.equal(newest("sockets"), 1);
  t.equal(newest("failed_requests"), 0);
  t.ok(newest("turn_p99_seconds") !== null, "there were turns");
  t.ok((newest("memory_rss_bytes") ?? 0) > 1e7);
  t.match(first.metrics, { colloquy_sockets: { "": 1 }, colloquy_disk_bytes: { free: Number } });
  t.equal(first.values["loop_delay_p99_seconds"]?.[0], null, "nobody looked");
  clock.advance(limits.live_sample_ms);
  const second = await liveOf(dataDir, first.next);
  t.equal(second.next, 3);
  t.strictSame(second.values["requests_per_second"], [0]);
  t.strictSame(second.values["turn_p50_seconds"], [null], "no turn, no duration");
  socket.ws.close();
});

t.test("the table of figures is what the page gets, and each is of a metric", async (t) => {
  const server = await startTestServer(t);
  const table = readFileSync(join(checkout, "docs/metrics.md"), "utf8");
  const rows = [...table.matchAll(/^\| `([a-z0-9_]+)` \| `(colloquy_\w+)` \|/gm)];
  const live = await liveOf(server.dataDir);
  const found = rows.map(([, name]) => name);
  t.strictSame(found, Object.keys(live.values));
  const metrics = (await askAdmin(server.dataDir, "/metrics")).body;
  const organizations = (await askAdmin(server.dataDir, "/admin/live/organizations")).body;
  const shown = [
    ...rows.map(([, , metric]) => metric ?? ""),
    ...Object.keys(live.metrics),
    ...Object.keys((JSON.parse(organizations) as Live).metrics),
  ];
  for (const metric of shown) t.match(metrics, `# TYPE ${metric} `, metric);
});

t.test("[M5] the page says why the server is not ready", async (t) => {
  const server = await startTestServer(t, { environment: { STORE_BYTES_MAX: "1" } });
  for (;;) {
    const { unready } = await liveOf(server.dataDir);
    if (unready === null) continue;
    t.match(unready, /changes are rejected/);
    break;
  }
});
