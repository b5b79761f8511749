// `idle`: N sockets that have authenticated and registered and then do nothing. Memory is read in steps; the slope is
// the cost of one socket. The baseline has as many sockets, subscribed to one topic (bench/baselines/publish.ts).
// Garbage that is still there at rest counts, as in production; several runs show how much it varies.

import { Api, type User } from "../lib/api.ts";
import type { IdleSocketsResult } from "../lib/job.ts";
import { disturbanceNotes, measureOf } from "../lib/measures.ts";
import type { Point } from "../lib/recorder.ts";
import type { Check, Outcome } from "../lib/result.ts";
import { type Context, generate, openBaseline, type Pair, type Scenario } from "../lib/scenario.ts";
import type { Target } from "../lib/target.ts";
import { receiversOf, usersFor } from "./receivers.ts";

const STEPS = [0, 0.25, 1];
const KILOBYTE = 1024;

export const idle: Scenario = {
  name: "idle",
  summary: "memory per authenticated, registered, idle WebSocket",
  baseline: "baselines/publish",
  supportsUrl: true,
  sizes: {
    tiny: {
      connections: 8,
      ratePerSecond: 0,
      durationSeconds: 0.05,
      warmupSeconds: 0,
      runs: 1,
      users: 1,
      receivers: 0,
    },
    small: {
      connections: 1_000,
      ratePerSecond: 0,
      durationSeconds: 0.5,
      warmupSeconds: 0,
      runs: 1,
      users: 20,
      receivers: 0,
    },
    full: {
      connections: 10_000,
      ratePerSecond: 0,
      durationSeconds: 20,
      warmupSeconds: 0,
      runs: 3,
      users: 200,
      receivers: 0,
    },
  },
  run,
};

/** A new server for every run, because reused memory of an earlier run would hide the cost of sockets. */
async function run(context: Context): Promise<Outcome> {
  const { settings, progress } = context;
  const pair = { ours: [] as IdleSocketsResult[], baseline: [] as IdleSocketsResult[] };
  const seconds = STEPS.length * settings.durationSeconds + settings.connections / 1_000;
  progress.plan(2 * settings.runs * seconds);
  for (let index = 0; index < settings.runs; index += 1) {
    const order = index % 2 === 0 ? (["ours", "baseline"] as const) : (["baseline", "ours"] as const);
    for (const label of order) {
      progress.label(`idle: ${settings.connections} sockets, run ${index + 1} of ${settings.runs}, ${label}`);
      const result = label === "ours" ? await measureOurs(context) : await measureBaseline(context);
      if (result !== null) pair[label].push(result);
      progress.advance(seconds);
    }
  }
  return outcomeOf(pair);
}

async function measureOurs(context: Context): Promise<IdleSocketsResult> {
  const { settings } = context;
  const server = await context.openServer();
  const api = new Api(server, server.credentials);
  const users = await usersFor(api, { scenario: "idle", sockets: settings.connections, atLeast: settings.users });
  const result = await measureSockets(context, server, users);
  await server.stop();
  return result;
}

async function measureBaseline(context: Context): Promise<IdleSocketsResult | null> {
  const baseline = await openBaseline(context, {
    program: "baselines/publish",
    input: { variable: "FRAMES_FILE", value: { frames: [], answer: "{}" } },
  });
  if (baseline === null) return null;
  const users = [{ id: 0, email: "", authorization: "Basic Zmxvb3I6Zmxvb3I=" }];
  const result = await measureSockets(context, baseline, users);
  await baseline.stop();
  return result;
}

function measureSockets(
  context: Context,
  { address, watch }: Target,
  users: readonly User[],
): Promise<IdleSocketsResult> {
  const { connections, durationSeconds } = context.settings;
  return generate(context, {
    kind: "idle-sockets",
    address,
    watch,
    receivers: receiversOf({ users, count: connections, eventType: "message" }),
    steps: STEPS.map((share) => Math.round(share * connections)),
    settleMs: durationSeconds * 1000,
  });
}

function outcomeOf(pair: Pair<IdleSocketsResult>): Outcome {
  return {
    measures: [
      measureOf(
        { key: "pss_per_socket_kb", title: "memory (PSS) per socket", unit: "KB", better: "lower" },
        pair,
        (result) => perSocket(result, (step) => step.pssBytes),
      ),
      measureOf(
        { key: "anon_per_socket_kb", title: "its own memory (RssAnon) per socket", unit: "KB", better: "lower" },
        pair,
        (result) => perSocket(result, (step) => step.anonBytes),
      ),
      measureOf(
        { key: "pss_all_mb", title: "memory (PSS) of the whole process at the end", unit: "MB", better: "lower" },
        pair,
        (result) => toMegabytes(result.steps.at(-1)?.pssBytes ?? null),
      ),
      measureOf(
        {
          key: "kernel_per_socket_kb",
          title: "kernel TCP buffers per socket (both ends)",
          unit: "KB",
          better: "lower",
        },
        pair,
        (result) => perSocket(result, (step) => step.kernelBytes),
      ),
      measureOf(
        { key: "sockets_opened_per_s", title: "sockets opened and registered", unit: "/s", better: "higher" },
        pair,
        (result) => result.opened / result.openSeconds,
      ),
    ],
    series: [
      {
        kind: "memory",
        title: "memory over sockets",
        xUnit: "sockets",
        yUnit: "MB",
        lines: [
          { label: "ours", points: pointsOf(pair.ours[0]) },
          { label: "baseline", points: pointsOf(pair.baseline[0]) },
        ].filter((line) => line.points.length > 0),
      },
    ],
    checks: [...checksOf("ours", pair.ours), ...checksOf("baseline", pair.baseline)],
    notes: disturbanceNotes("idle", pair),
  };
}

type Step = IdleSocketsResult["steps"][number];

/**
 * Kilobytes per socket between the first step with sockets and the last; null if memory cannot be read. The first
 * sockets of a process also load and compile code, which is not counted.
 */
function perSocket(result: IdleSocketsResult, pick: (step: Step) => number | null): number | null {
  const first = result.steps.find((step) => step.sockets > 0);
  const last = result.steps.at(-1);
  if (first === undefined || last === undefined || last.sockets === first.sockets) return null;
  const before = pick(first);
  const after = pick(last);
  return before === null || after === null ? null : (after - before) / (last.sockets - first.sockets) / KILOBYTE;
}

function pointsOf(result: IdleSocketsResult | undefined): Point[] {
  return (result?.steps ?? []).flatMap(({ sockets, pssBytes }) =>
    pssBytes === null ? [] : [[sockets, pssBytes / KILOBYTE / KILOBYTE] as const],
  );
}

function toMegabytes(bytes: number | null): number | null {
  return bytes === null ? null : bytes / KILOBYTE / KILOBYTE;
}

function checksOf(label: string, runs: readonly IdleSocketsResult[]): Check[] {
  return runs.length === 0
    ? []
    : [
        {
          name: `${label}: every idle socket stayed open`,
          ok: runs.every((run) => run.lost === 0),
          detail: `${runs.reduce((sum, run) => sum + run.lost, 0)} lost ${runs.find((run) => run.firstClose !== "")?.firstClose ?? ""}`,
        },
      ];
}
