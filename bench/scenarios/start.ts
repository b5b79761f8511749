// `start`: the time from process start to the first 200 of GET /server_settings, on an empty directory each time, and
// the memory of the idle process. The baseline is a bare uWebSockets.js + lmdb server that opens an empty store
// (bench/baselines/send.ts), also started without a TypeScript loader.

import { setTimeout as wait } from "node:timers/promises";
import { measureOf } from "../lib/measures.ts";
import { readCpuSeconds, readMemory } from "../lib/process-usage.ts";
import type { Outcome } from "../lib/result.ts";
import { type Context, openBaseline, type Pair, type Scenario } from "../lib/scenario.ts";
import type { Target } from "../lib/target.ts";

const MEGABYTE = 1024 * 1024;

interface Start {
  readonly startMs: number;
  readonly cpuSeconds: number | null;
  readonly rssBytes: number | null;
  readonly pssBytes: number | null;
  readonly exitCode: number | null;
}

export const start: Scenario = {
  name: "start",
  summary: "cold start on an empty directory, memory of the idle process",
  baseline: "baselines/send",
  supportsUrl: false,
  sizes: {
    tiny: {
      connections: 0,
      ratePerSecond: 0,
      durationSeconds: 0.05,
      warmupSeconds: 0,
      runs: 1,
      users: 0,
      receivers: 0,
    },
    small: { connections: 0, ratePerSecond: 0, durationSeconds: 1, warmupSeconds: 0, runs: 3, users: 0, receivers: 0 },
    full: { connections: 0, ratePerSecond: 0, durationSeconds: 3, warmupSeconds: 0, runs: 7, users: 0, receivers: 0 },
  },
  run,
};

async function run(context: Context): Promise<Outcome> {
  const { settings, progress } = context;
  // The first start may have to build the server and fills the page cache, so it is not counted.
  const warm = await context.openServer();
  await warm.stop();
  const pair = { ours: [] as Start[], baseline: [] as Start[] };
  progress.plan(2 * settings.runs * (settings.durationSeconds + 1));
  for (let index = 0; index < settings.runs; index += 1) {
    const order = index % 2 === 0 ? (["ours", "baseline"] as const) : (["baseline", "ours"] as const);
    for (const label of order) {
      progress.label(`start: run ${index + 1} of ${settings.runs}, ${label}`);
      const target =
        label === "ours" ? await context.openServer() : await openBaseline(context, { program: "baselines/send" });
      if (target !== null) pair[label].push(await observe(target, settings.durationSeconds));
      progress.advance(settings.durationSeconds + 1);
    }
  }
  return outcomeOf(pair, settings.durationSeconds);
}

/** Leaves the process idle for `idleSeconds`, reads its memory, and stops it. */
async function observe(target: Target, idleSeconds: number): Promise<Start> {
  const cpuSeconds = target.watch === null ? null : readCpuSeconds(target.watch.pid);
  await wait(idleSeconds * 1000);
  const memory = target.watch === null ? null : readMemory(target.watch.pid);
  const exit = await target.stop();
  return {
    startMs: target.startMs ?? Number.NaN,
    cpuSeconds,
    rssBytes: memory?.rssBytes ?? null,
    pssBytes: memory?.pssBytes ?? null,
    exitCode: exit?.code ?? null,
  };
}

function outcomeOf(pair: Pair<Start>, idleSeconds: number): Outcome {
  const megabytes = (bytes: number | null): number | null => (bytes === null ? null : bytes / MEGABYTE);
  const after = `${idleSeconds} s after the start`;
  return {
    measures: [
      measureOf(
        { key: "ready_ms", title: "start to first answer", unit: "ms", better: "lower" },
        pair,
        (s) => s.startMs,
      ),
      measureOf({ key: "start_cpu_ms", title: "CPU used by then", unit: "ms", better: "lower" }, pair, (s) =>
        s.cpuSeconds === null ? null : s.cpuSeconds * 1000,
      ),
      measureOf({ key: "idle_rss_mb", title: `RSS ${after}`, unit: "MB", better: "lower" }, pair, (s) =>
        megabytes(s.rssBytes),
      ),
      measureOf({ key: "idle_pss_mb", title: `PSS ${after}`, unit: "MB", better: "lower" }, pair, (s) =>
        megabytes(s.pssBytes),
      ),
    ],
    series: [],
    checks: [
      {
        name: "every server exited with code 0 on SIGTERM",
        ok: [...pair.ours, ...pair.baseline].every((s) => s.exitCode === 0),
        detail: [...pair.ours, ...pair.baseline].map((s) => s.exitCode).join(" "),
      },
    ],
    notes: [],
  };
}
