// From runs to a report: medians, ranges, ratios, the text table and the HTML page.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { runArrivals } from "../../bench/lib/arrivals.ts";
import { formatHtml } from "../../bench/lib/html-report.ts";
import { bottleneckNotes, measureOf, throughputMeasures } from "../../bench/lib/measures.ts";
import type { Usage } from "../../bench/lib/probe.ts";
import { percentileMs, Recorder } from "../../bench/lib/recorder.ts";
import type { Report } from "../../bench/lib/result.ts";
import { medianOf, ratioOf, seededRandom, spreadOf } from "../../bench/lib/statistics.ts";
import { formatText } from "../../bench/lib/text-report.ts";
import { readZuliprc } from "../../bench/lib/zuliprc.ts";

const report: Report = {
  format: 1,
  date: "2026-11-21T00:00:00.000Z",
  command: "npm run bench -- send --json <b>.json",
  server: "ours",
  seed: 7,
  machine: {
    processor: "A & B",
    cores: 2,
    memoryBytes: 2 ** 34,
    kernel: "Linux 6",
    node: "v20",
    loadBefore: 0.1,
    fdatasyncUs: 204,
  },
  scenarios: [
    {
      scenario: "send",
      summary: "durable posts",
      transports: ["native"],
      settings: {
        connections: 4,
        ratePerSecond: 10,
        durationSeconds: 1,
        warmupSeconds: 1,
        runs: 3,
        users: 0,
        receivers: 0,
      },
      baselineProgram: "bench/baselines/send.ts",
      startedAt: "2026-11-21T00:00:00.000Z",
      tookSeconds: 12,
      measures: [
        {
          key: "posts_per_s",
          title: "posts",
          unit: "/s",
          better: "higher",
          ours: spreadOf([10_000, 12_000, 11_000]),
          baseline: spreadOf([40_000, 44_000, 42_000]),
          ratio: ratioOf(spreadOf([10_000, 12_000, 11_000]), spreadOf([40_000, 44_000, 42_000])),
        },
        { key: "x_ms", title: "unseen", unit: "ms", better: "lower", ours: null, baseline: null, ratio: null },
      ],
      series: [
        {
          kind: "latency",
          title: "latency",
          xUnit: "percentile",
          yUnit: "ms",
          lines: [
            {
              label: "ours",
              points: [
                [0, 0.2],
                [50, 1],
                [99.9, 20],
                [100, 31],
              ],
            },
          ],
        },
        {
          kind: "memory",
          title: "memory",
          xUnit: "sockets",
          yUnit: "MB",
          lines: [
            {
              label: "baseline",
              points: [
                [0, 30],
                [100, 31],
              ],
            },
          ],
        },
      ],
      checks: [{ name: "<script>alert(1)</script>", ok: false, detail: "3 x 429" }],
      notes: [],
    },
  ],
};

t.test("a spread is the median with the smallest and the largest value; unmeasured ones are skipped", async (t) => {
  t.equal(medianOf([3, 1, 2]), 2);
  t.equal(medianOf([4, 1, 2, 3]), 2.5);
  t.same(spreadOf([5, null, 1]), { median: 3, min: 1, max: 5, runs: [5, 1] });
  t.equal(spreadOf([null, Number.NaN]), null);
  const ratio = ratioOf(spreadOf([10, 20]), spreadOf([40, 40]));
  t.match(ratio, { median: 0.375, min: 0.25, max: 0.5 });
  t.equal(ratioOf(spreadOf([1]), null), null);
  t.equal(ratioOf(spreadOf([-1]), spreadOf([-2])), null, "memory that shrank has no ratio");
});

t.test("a percentile needs enough samples, and only arrivals due inside the window count", async (t) => {
  const recorder = new Recorder(1_000);
  recorder.latency(5, 10);
  recorder.open(100);
  recorder.close(1_100);
  for (let index = 0; index < 99; index += 1) recorder.latency(100 + index, 102 + index);
  recorder.latency(1_101, 1_102);
  recorder.complete(99);
  recorder.complete(100);
  const few = recorder.summary();
  t.equal(few.count, 99);
  t.equal(percentileMs(few, 99), null);
  recorder.latency(200, 300);
  const enough = recorder.summary();
  t.equal(percentileMs(enough, 99), 2);
  t.equal(Math.round(percentileMs(enough, 100) ?? 0), 100);
  t.equal(percentileMs(enough, 99.9), null);
  t.equal(recorder.completed, 1);
});

t.test("the same seed gives the same numbers", async (t) => {
  const take = (seed: number): number[] => Array.from({ length: 5 }, seededRandom(seed));
  t.same(take(1), take(1));
  t.not(take(1)[0], take(2)[0]);
  t.ok(take(3).every((value) => value >= 0 && value < 1));
});

t.test("arrivals are due at start + i / rate, whenever the event loop handles them", async (t) => {
  const due: number[] = [];
  const fromMs = performance.now();
  await runArrivals({ ratePerSecond: 500, fromMs, untilMs: fromMs + 40, onArrival: (dueAt) => due.push(dueAt) > 0 });
  const found = due.map((dueAt) => Math.round(dueAt - fromMs));
  t.same(
    found,
    Array.from({ length: 20 }, (_, index) => index * 2),
  );
  const few: number[] = [];
  await runArrivals({
    ratePerSecond: 1e6,
    fromMs: performance.now(),
    untilMs: Number.POSITIVE_INFINITY,
    onArrival: (dueAt) => few.push(dueAt) < 3,
  });
  t.equal(few.length, 3, "a handler that returns false ends them");
});

t.test("the text report shows medians, ranges, ratios and failed checks", async (t) => {
  const text = formatText(report);
  t.match(text, /posts +11,000\/s \[10,000 - 12,000\] +42,000\/s \[40,000 - 44,000\] +0\.262 \[0\.25 - 0\.273\]/);
  t.notMatch(text, /unseen/, "a value that was not measured has no row");
  t.match(text, /FAILED .*3 x 429/);
  t.match(text, /, transport native\n/, "who spoke HTTP in the server");
});

t.test("the page is self-contained, fits a phone, and escapes foreign text", async (t) => {
  const page = formatHtml(report);
  t.match(page, /<meta name="viewport"/);
  t.notMatch(page, /https?:\/\/|src=|url\(|@import|<script/i, "no external asset and no script");
  t.match(page, /--accent: #.*prefers-color-scheme: dark.*--accent: #/s, "the colors of the server's pages");
  t.match(page, /&lt;script&gt;alert\(1\)/);
  t.match(page, /--json &lt;b&gt;\.json/);
  t.equal(page.match(/<polyline/g)?.length, 2);
  t.notMatch(page, /NaN|Infinity|undefined/);
  for (const [, points = ""] of page.matchAll(/<polyline points="([^"]+)"/g)) {
    const places = points.split(" ").map((place) => place.split(",").map(Number));
    t.ok(
      places.every(([x = -1, y = -1]) => x >= 0 && x <= 360 && y >= 0 && y <= 220),
      "drawn inside the image",
    );
  }
});

t.test("a zuliprc gives email and key of its [api] section, and errors say what is missing", async (t) => {
  const folder = t.testdir({});
  const path = join(folder, "zuliprc");
  writeFileSync(path, "[other]\nkey=no\n[api]\nemail = owner@example.com\nkey=abc=\nsite=http://x\n");
  t.same(readZuliprc(path), { email: "owner@example.com", key: "abc=" });
  writeFileSync(path, "[api]\nemail=x\n");
  t.throws(() => readZuliprc(path), /no email and key/);
});

t.test("the ratio of this server to a peer is shown in text and on the page", async (t) => {
  const pair = { ours: [10, 12], baseline: [40, 40], peers: { fastify: [5, 5], socketio: [] } };
  const posts = { key: "y", title: "posts", unit: "/s", better: "higher" } as const;
  const measure = measureOf(posts, pair, (run) => run);
  t.match(measure.peers, { fastify: { value: { median: 5 }, ratio: { median: 2.2, min: 2, max: 2.4 } } });
  t.same(measure.peers?.["socketio"], { value: null, ratio: null }, "a peer without a run has no number");
  t.notOk(
    "peers" in measureOf(posts, { ours: [1], baseline: [] }, (run) => run),
    "without peers the report does not mention any",
  );
  const scenarios = report.scenarios.map((scenario) => ({ ...scenario, measures: [measure] }));
  const text = formatText({ ...report, scenarios });
  t.match(text, / CPU per operation +ours +baseline +ratio +fastify +ours \/ fastify +socketio +ours \/ socketio$/m);
  t.match(text, / 5\/s \[5 - 5\] +2\.2 \[2 - 2\.4\] +- +-$/m);
  const page = formatHtml({ ...report, scenarios });
  t.match(page, /<th>fastify<\/th><th>ours \/ fastify<\/th>/);
  t.match(page, /<td>5\/s \[5 - 5\]<\/td><td>2\.2 \[2 - 2\.4\]<\/td><td>-<\/td><td>-<\/td>/);
});

/** A run of a closed loop: its rate, the share of a core of the generator's busiest thread, the server's CPU. */
function runOf(perSecond: number, generatorShare: number, serverCpuSeconds = 0.5): { perSecond: number; usage: Usage } {
  const usage = { generatorShare, serverCpuSeconds, wallSeconds: 1, othersShare: 0, loopDelayMs: null };
  return { perSecond, usage: { ...usage, serverMemory: null } };
}

function rowsOf(ours: ReturnType<typeof runOf>[], baseline: ReturnType<typeof runOf>[]): string {
  const options = { prefix: "posts", noun: "post", title: "posts" };
  const measures = throughputMeasures(options, { ours, baseline }, (run) => run.perSecond);
  return formatText({ ...report, scenarios: report.scenarios.map((scenario) => ({ ...scenario, measures })) });
}

t.test("a throughput with a saturated generator is a bound, and so is its ratio", async (t) => {
  t.match(rowsOf([runOf(20_000, 0.5)], [runOf(40_000, 0.89)]), / 20,000\/s +40,000\/s +0\.5$/m, "none is saturated");
  t.match(rowsOf([runOf(20_000, 0.5)], [runOf(40_000, 0.9)]), / 20,000\/s +>= 40,000\/s +<= 0\.5$/m);
  t.match(rowsOf([runOf(20_000, 1)], [runOf(40_000, 0.5)]), / >= 20,000\/s +40,000\/s +>= 0\.5$/m);
  t.match(rowsOf([runOf(20_000, 1)], [runOf(40_000, 1)]), / >= 20,000\/s +>= 40,000\/s +-$/m, "neither is known");
  const two = rowsOf([runOf(20_000, 0.5), runOf(20_000, 0.5)], [runOf(40_000, 0.5), runOf(40_000, 0.95)]);
  t.match(two, / >= 40,000\/s \[40,000 - 40,000\] +<= 0\.5$/m, "one such run is enough");
  const [note] = bottleneckNotes("throughput", { ours: [], baseline: [runOf(1, 0.95)] });
  t.match(note, /baseline: the load generator was saturated \(generator 95 % of a core, server 50 %\)/);
});

t.test("CPU per operation is the first column, with its ratio, and the first row of a throughput", async (t) => {
  const text = rowsOf([runOf(20_000, 0.5, 0.8)], [runOf(40_000, 1, 0.4)]);
  t.match(text, /^ +CPU per operation +ours +baseline +ratio$/m);
  t.match(text, /^ {2}server CPU per post +40 us +10 us +4\n {2}posts +40 us, x 4 +20,000/m, "a bound has its cost");
});
