// Converts runs to the numbers of a report: measures with spread and ratio, plotted lines, checks, and notes that
// prevent wrong conclusions (a generator without spare CPU time hides differences between servers).

import type { DeliveriesResult, Failures, HttpLoadResult } from "./job.ts";
import type { Usage } from "./probe.ts";
import { type LatencySummary, PERCENTILES, type Point, percentileMs } from "./recorder.ts";
import type { Check, Measure, Series } from "./result.ts";
import { type Pair, sidesOf } from "./scenario.ts";
import { ratioOf, spreadOf } from "./statistics.ts";

/** Above this share of a core a process is saturated. */
const BUSY_SHARE = 0.9;
/** Above this share of a core, other programs are reported as a disturbance. */
const DISTURBED_SHARE = 0.25;

type Description = Pick<Measure, "key" | "title" | "unit" | "better">;

/** One measure. `pick` returns its value for a run, null where it was not measured. */
export function measureOf<T>(description: Description, pair: Pair<T>, pick: (run: T) => number | null): Measure {
  const ours = spreadOf(pair.ours.map(pick));
  const baseline = spreadOf(pair.baseline.map(pick));
  const measure = { ...description, ours, baseline, ratio: ratioOf(ours, baseline) };
  if (pair.peers === undefined) return measure;
  const peers = Object.entries(pair.peers).map(([name, runs]) => {
    const value = spreadOf(runs.map(pick));
    return [name, { value, ratio: ratioOf(ours, value) }] as const;
  });
  return { ...measure, peers: Object.fromEntries(peers) };
}

/** The measure is not a property of a server, so there is no ratio. */
export function undivided(measure: Measure): Measure {
  const { peers, ...rest } = measure;
  const alone = { ...rest, ratio: null };
  if (peers === undefined) return alone;
  return {
    ...alone,
    peers: Object.fromEntries(Object.entries(peers).map(([name, { value }]) => [name, { value, ratio: null }])),
  };
}

/**
 * The same measure of closed-loop runs, which is a bound for each target of which a run had a saturated generator. (In
 * open loop a generator spins while it waits for an arrival, so that its CPU time tells nothing.)
 */
function bounded<T extends { readonly usage: Usage }>(measure: Measure, pair: Pair<T>): Measure {
  const saturated = sidesOf(pair)
    .filter(([, runs]) => runs.some(({ usage }) => usage.generatorShare >= BUSY_SHARE))
    .map(([label]) => label);
  return saturated.length === 0 ? measure : { ...measure, saturated };
}

/** CPU of the server process per operation. */
function cpuMeasure<T extends { readonly usage: Usage }>(
  description: Pick<Description, "key" | "title">,
  pair: Pair<T>,
  perSecond: (run: T) => number,
  secondsOf: (usage: Usage) => number | null = ({ serverCpuSeconds }) => serverCpuSeconds,
): Measure {
  return measureOf({ ...description, unit: "us", better: "lower" }, pair, (run) => {
    const seconds = secondsOf(run.usage);
    const count = perSecond(run) * run.usage.wallSeconds;
    return seconds === null || count === 0 ? null : (seconds * 1_000_000) / count;
  });
}

/** Cost and throughput of closed-loop runs. `noun` names the counted thing: "post", "delivery". */
export function throughputMeasures<T extends { readonly usage: Usage }>(
  options: { readonly prefix: string; readonly noun: string; readonly title: string },
  pair: Pair<T>,
  perSecond: (run: T) => number,
): Measure[] {
  const { prefix, noun, title } = options;
  const cpu = cpuMeasure({ key: `${prefix}_cpu_us`, title: `server CPU per ${noun}` }, pair, perSecond);
  const rate = measureOf({ key: `${prefix}_per_s`, title, unit: "/s", better: "higher" }, pair, perSecond);
  return [
    cpu,
    cpuMeasure(
      { key: `${prefix}_main_cpu_us`, title: "the same of the main thread alone" },
      pair,
      perSecond,
      ({ mainCpuSeconds }) => mainCpuSeconds ?? null,
    ),
    { ...bounded(rate, pair), cpuUs: costOf(cpu) },
    measureOf(
      {
        key: `${prefix}_loop_delay_p99_ms`,
        title: "event-loop delay p99 during the phase",
        unit: "ms",
        better: "lower",
      },
      pair,
      (run) => run.usage.loopDelayMs?.p99 ?? null,
    ),
    undivided(
      measureOf(
        { key: `${prefix}_others_cores`, title: "cores used by other programs", unit: "", better: "lower" },
        pair,
        (run) => run.usage.othersShare,
      ),
    ),
  ];
}

function costOf({ ours, baseline, ratio }: Measure): Pick<Measure, "ours" | "baseline" | "ratio"> {
  return { ours, baseline, ratio };
}

/** p50, p99 and p99.9 of a latency; the cost of an operation, if their rate is given. */
export function latencyMeasures<T extends { readonly usage: Usage }>(
  options: { readonly prefix: string; readonly title: string; readonly perSecond?: (run: T) => number },
  pair: Pair<T>,
  pick: (run: T) => LatencySummary,
): Measure[] {
  const { prefix, title, perSecond } = options;
  const cost = perSecond && { cpuUs: costOf(cpuMeasure({ key: `${prefix}_cpu_us`, title }, pair, perSecond)) };
  return ([50, 99, 99.9] as const).map((percentile) => {
    const measure = measureOf(
      {
        key: `${prefix}_p${String(percentile).replace(".", "_")}_ms`,
        title: `${title} p${percentile}`,
        unit: "ms",
        better: "lower",
      },
      pair,
      (run) => percentileMs(pick(run), percentile),
    );
    return percentile === 50 ? { ...measure, ...cost } : measure;
  });
}

/** Latency by percentile, all targets; at each percentile the median over the runs. */
export function latencySeries<T>(title: string, pair: Pair<T>, pick: (run: T) => LatencySummary): Series {
  const lineOf = (runs: readonly T[]): Point[] => {
    const summaries = runs.map(pick).filter((summary) => summary.count > 0);
    if (summaries.length === 0) return [];
    return PERCENTILES.flatMap((percentile) => {
      const spread = spreadOf(summaries.map((summary) => percentileMs(summary, percentile)));
      return spread === null ? [] : [[percentile, spread.median] as const];
    });
  };
  return { kind: "latency", title, xUnit: "percentile", yUnit: "ms", lines: linesOf(pair, lineOf) };
}

/** Throughput over the window, of the run whose rate is nearest to the median. */
export function throughputSeries<T extends { readonly throughput: readonly Point[] }>(
  title: string,
  pair: Pair<T>,
  perSecond: (run: T) => number,
): Series {
  const lineOf = (runs: readonly T[]): readonly Point[] => {
    const ordered = runs.toSorted((a, b) => perSecond(a) - perSecond(b));
    return ordered[Math.floor(ordered.length / 2)]?.throughput ?? [];
  };
  return { kind: "throughput", title, xUnit: "s", yUnit: "/s", lines: linesOf(pair, lineOf) };
}

function linesOf<T>(pair: Pair<T>, lineOf: (runs: readonly T[]) => readonly Point[]): Series["lines"] {
  return sidesOf(pair)
    .map(([label, runs]) => ({ label, points: lineOf(runs) }))
    .filter((line) => line.points.length > 0);
}

/**
 * Checks, for every run of all targets, that every response was 200, no connection broke, and no request is unanswered.
 */
export function failureChecks<T extends { readonly failures: Failures }>(phase: string, pair: Pair<T>): Check[] {
  return sidesOf(pair).flatMap(([label, runs]) => {
    if (runs.length === 0) return [];
    const troubles = runs.flatMap(({ failures }) => troublesOf(failures));
    return [
      {
        name: `${phase}, ${label}: every request was answered 200`,
        ok: troubles.length === 0,
        detail: troubles.slice(0, 3).join("; "),
      },
    ];
  });
}

/**
 * The baseline must send as many bytes as this server, otherwise the two do different work. `tolerance` is a share of
 * the size.
 */
export function sameSizeCheck(phase: string, pair: Pair<HttpLoadResult>, tolerance: number): Check[] {
  const sizeOf = (runs: readonly HttpLoadResult[]): number | null =>
    spreadOf(runs.map((run) => (run.completed === 0 ? null : run.bodyBytes / run.completed)))?.median ?? null;
  const ours = sizeOf(pair.ours);
  const baseline = sizeOf(pair.baseline);
  if (ours === null || baseline === null) return [];
  return [
    {
      name: `${phase}: ours and the baseline send bodies of the same size`,
      ok: Math.abs(ours - baseline) <= tolerance * ours,
      detail: `${Math.round(ours)} and ${Math.round(baseline)} bytes`,
    },
  ];
}

/** Checks, for every run of all targets, that every receiver saw every event exactly once and kept its socket. */
export function deliveryChecks(phase: string, pair: Pair<DeliveriesResult>): Check[] {
  const checks = sidesOf(pair).flatMap(([label, runs]) => {
    if (runs.length === 0) return [];
    const sum = (pick: (run: DeliveriesResult) => number): number => runs.reduce((total, run) => total + pick(run), 0);
    const incomplete = sum((run) => run.incomplete);
    const duplicates = sum((run) => run.duplicates);
    const closed = sum((run) => run.closedReceivers);
    const firstClose = runs.find((run) => run.firstClose !== "")?.firstClose ?? "";
    return [
      {
        name: `${phase}, ${label}: every receiver saw every event exactly once`,
        ok: incomplete + duplicates + closed === 0,
        detail: `${incomplete} posts incomplete, ${duplicates} duplicate events, ${closed} sockets lost ${firstClose}`,
      },
    ];
  });
  return [...failureChecks(phase, pair), ...checks];
}

/** Notes that other programs ran while a phase was measured. Its numbers are then worse, and more so in some runs. */
export function disturbanceNotes<T extends { readonly usage: Usage }>(phase: string, pair: Pair<T>): string[] {
  const others = spreadOf(
    sidesOf(pair)
      .flatMap(([, runs]) => runs)
      .map((run) => run.usage.othersShare),
  );
  if (others === null || others.max < DISTURBED_SHARE) return [];
  return [
    `${phase}: other programs used up to ${percent(others.max)} of a core (median ${percent(others.median)}): repeat on a quiet machine.`,
  ];
}

/** Names the programs that sent the load, and those that received the events. */
export function programNotes<T extends { readonly sender: string; readonly receiver?: string }>(
  phase: string,
  pair: Pair<T>,
): string[] {
  const runs = sidesOf(pair).flatMap(([, side]) => side);
  const senders = [...new Set(runs.map(({ sender }) => sender))];
  const receivers = [...new Set(runs.flatMap(({ receiver }) => receiver ?? []))];
  const received = receivers.length === 0 ? "" : `; events read by ${receivers.join(" and ")}`;
  return senders.length === 0 ? [] : [`${phase}: load from ${senders.join(" and ")}${received}.`];
}

/** Names the bottleneck of closed-loop runs: one sentence for each target where it was not the server. */
export function bottleneckNotes<T extends { readonly usage: Usage }>(phase: string, pair: Pair<T>): string[] {
  const notes = sidesOf(pair).flatMap(([label, runs]) => {
    const usages = runs.map((run) => run.usage);
    if (usages.length === 0) return [];
    const generator = Math.max(...usages.map((usage) => usage.generatorShare));
    const server = spreadOf(usages.map((usage) => share(usage)))?.median ?? null;
    const shares = `(generator ${percent(generator)} of a core, server ${server === null ? "unknown" : percent(server)})`;
    if (generator >= BUSY_SHARE) {
      return [
        `${phase}, ${label}: the load generator was saturated ${shares}, so the throughput is a bound; compare CPU per operation.`,
      ];
    }
    if (server !== null && server >= BUSY_SHARE) return [];
    return [
      `${phase}, ${label}: neither side was out of CPU ${shares}: the time was spent waiting (flush, wake-ups, other programs).`,
    ];
  });
  return [...notes, ...disturbanceNotes(phase, pair)];
}

function share(usage: Usage): number | null {
  return usage.serverCpuSeconds === null ? null : usage.serverCpuSeconds / usage.wallSeconds;
}

function percent(value: number): string {
  return `${Math.round(value * 100)} %`;
}

function troublesOf(failures: Failures): string[] {
  const troubles = Object.entries(failures.statuses).map(
    ([status, count]) => `${count} x ${status} ${failures.firstBody}`,
  );
  if (failures.brokenConnections > 0)
    troubles.push(`${failures.brokenConnections} connections broke: ${failures.firstBreak}`);
  if (failures.unanswered > 0) troubles.push(`${failures.unanswered} requests unanswered`);
  return troubles;
}
