// `start-filled`: the time from process start to the first 200 of GET /server_settings on a store of 1,000,000
// messages, created beforehand (bench/lib/filled.ts), and then the first page of messages. The page cache is warm,
// because the copy has just been written. The baseline is that of `start`: lmdb opens a store in the same time whatever
// it contains.

import { Api } from "../lib/api.ts";
import { filled } from "../lib/filled.ts";
import { measureOf } from "../lib/measures.ts";
import { readCpuSeconds, readMemory } from "../lib/process-usage.ts";
import type { Outcome } from "../lib/result.ts";
import { type Context, openBaseline, type Scenario } from "../lib/scenario.ts";
import type { Target } from "../lib/target.ts";
import { TimedCalls } from "../lib/timed-calls.ts";

const TARGET_MS = 2_000;
const PAGE_MESSAGES = 100;
const MEGABYTE = 1024 * 1024;

interface Start {
  readonly startMs: number;
  readonly cpuSeconds: number | null;
  readonly pageMs: number | null;
  readonly pageMessages: number | null;
  readonly pssBytes: number | null;
}

export const startFilled: Scenario = {
  name: "start-filled",
  summary: "cold start on a store of 1,000,000 messages, and the first page of messages",
  baseline: "baselines/send",
  supportsUrl: false,
  sizes: {
    tiny: { ...common(1), messages: 1_000 },
    small: { ...common(3), messages: 20_000 },
    full: { ...common(7), messages: 1_000_000 },
  },
  run,
};

function common(runs: number) {
  return { connections: 0, ratePerSecond: 0, durationSeconds: 0, warmupSeconds: 0, runs, users: 0, receivers: 0 };
}

async function run(context: Context): Promise<Outcome> {
  const { settings, progress } = context;
  const { messages = 0 } = settings;
  const copy = await filled(context, { messages, topics: Math.min(1_000, messages), areUnread: true });
  // The first start may have to build the server and is not counted.
  await (await context.openServer()).stop();
  const pair = { ours: [] as Start[], baseline: [] as Start[] };
  progress.plan(2 * settings.runs);
  for (let index = 0; index < settings.runs; index += 1) {
    for (const label of index % 2 === 0 ? (["ours", "baseline"] as const) : (["baseline", "ours"] as const)) {
      progress.label(`start-filled: run ${index + 1} of ${settings.runs}, ${label}`);
      const started = label === "ours" ? await startOurs(context, copy) : await startBaseline(context);
      if (started !== null) pair[label].push(started);
      progress.advance(1);
    }
  }
  const expected = Math.min(PAGE_MESSAGES, messages);
  const pages = pair.ours.map(({ pageMessages }) => pageMessages);
  const title = `${messages} messages stored`;
  return {
    measures: [
      measureOf(
        { key: "ready_ms", title: `start to first answer, ${title}`, unit: "ms", better: "lower" },
        pair,
        (s) => s.startMs,
      ),
      measureOf({ key: "start_cpu_ms", title: "CPU used by then", unit: "ms", better: "lower" }, pair, (s) =>
        s.cpuSeconds === null ? null : s.cpuSeconds * 1000,
      ),
      measureOf(
        {
          key: "first_page_ms",
          title: `first GET of the newest ${PAGE_MESSAGES} messages`,
          unit: "ms",
          better: "lower",
        },
        pair,
        (s) => s.pageMs,
      ),
      measureOf({ key: "pss_mb", title: "PSS after that", unit: "MB", better: "lower" }, pair, (s) =>
        s.pssBytes === null ? null : s.pssBytes / MEGABYTE,
      ),
    ],
    series: [],
    checks: [
      {
        name: "the first page was full each time",
        ok: pages.length > 0 && pages.every((count) => count === expected),
        detail: pages.join(" "),
      },
    ],
    notes: [`The target is a start within ${TARGET_MS / 1000} s.`],
  };
}

async function startOurs(context: Context, copy: Parameters<Context["openServer"]>[0]): Promise<Start> {
  const server = await context.openServer(copy);
  const seen = observe(server);
  const calls = new TimedCalls(server, new Api(server, server.credentials).authorization);
  const page = await calls.call("GET", "/messages", {
    anchor: "newest",
    num_before: String(PAGE_MESSAGES),
    num_after: "0",
  });
  calls.close();
  const { messages } = JSON.parse(page.body.toString("utf8")) as { readonly messages: readonly unknown[] };
  const pssBytes = memoryOf(server);
  await server.stop();
  return { ...seen, pageMs: page.ms, pageMessages: messages.length, pssBytes };
}

async function startBaseline(context: Context): Promise<Start | null> {
  const baseline = await openBaseline(context, { program: "baselines/send" });
  if (baseline === null) return null;
  const seen = observe(baseline);
  const pssBytes = memoryOf(baseline);
  await baseline.stop();
  return { ...seen, pageMs: null, pageMessages: null, pssBytes };
}

function observe({ startMs, watch }: Target): Pick<Start, "startMs" | "cpuSeconds"> {
  return { startMs: startMs ?? Number.NaN, cpuSeconds: watch === null ? null : readCpuSeconds(watch.pid) };
}

function memoryOf({ watch }: Target): number | null {
  return watch === null ? null : (readMemory(watch.pid)?.pssBytes ?? null);
}
