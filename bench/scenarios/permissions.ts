// `permissions`: the time and memory of checking a permission that a group holds: 1,000 groups in chains of five,
// 50,000 users, each in two groups. Uses the server's functions and projections without a server, in a new process for
// each run. The baseline looks up the answers in a Map of Sets (bench/generator/permissions.ts).

import type { PermissionsResult } from "../lib/job.ts";
import { measureOf, throughputSeries } from "../lib/measures.ts";
import type { Measure, Outcome } from "../lib/result.ts";
import { type Context, generate, type Pair, runSeconds, type Scenario } from "../lib/scenario.ts";

const GROUPS = 1_000;
const DEPTH = 5;
/** Targets: nanoseconds per check, bytes of memory per user. */
const TARGET_CHECK_NS = 1_000;
const TARGET_USER_BYTES = 300;

const common = { connections: 0, ratePerSecond: 0, receivers: 0 } as const;

export const permissions: Scenario = {
  name: "permissions",
  summary: "a permission check through five levels of groups, memory of users and memberships",
  baseline: "generator/main",
  supportsUrl: false,
  sizes: {
    tiny: { ...common, durationSeconds: 0.1, warmupSeconds: 0.05, runs: 1, users: 2_000 },
    small: { ...common, durationSeconds: 1, warmupSeconds: 0.5, runs: 3, users: 50_000 },
    full: { ...common, durationSeconds: 3, warmupSeconds: 1, runs: 7, users: 50_000 },
  },
  run,
};

async function run(context: Context): Promise<Outcome> {
  const { settings, progress, seed } = context;
  const pair = { ours: [] as PermissionsResult[], baseline: [] as PermissionsResult[] };
  const job = {
    kind: "permissions",
    people: settings.users,
    groups: GROUPS,
    depth: DEPTH,
    seed,
    warmupMs: settings.warmupSeconds * 1000,
    durationMs: settings.durationSeconds * 1000,
  } as const;
  progress.plan(2 * settings.runs * runSeconds(settings));
  for (let index = 0; index < settings.runs; index += 1) {
    for (const side of index % 2 === 0 ? (["ours", "baseline"] as const) : (["baseline", "ours"] as const)) {
      progress.label(`permissions: run ${index + 1} of ${settings.runs}, ${side}`);
      pair[side].push(await generate(context, { ...job, side }));
      progress.advance(runSeconds(settings));
    }
  }
  return {
    measures: measures(pair),
    series: [throughputSeries("permission checks", pair, ({ perSecond }) => perSecond)],
    checks: [sameAnswers(pair)],
    notes: notes(pair),
  };
}

function measures(pair: Pair<PermissionsResult>): Measure[] {
  const lower = "lower" as const;
  return [
    measureOf(
      { key: "check_ns", title: `one check, ${DEPTH} levels of ${GROUPS} groups`, unit: "ns", better: lower },
      pair,
      checkNs,
    ),
    measureOf(
      { key: "person_bytes", title: "memory per user", unit: "B", better: lower },
      pair,
      ({ usersBytes }) => usersBytes,
    ),
    measureOf(
      { key: "memberships_bytes", title: "memory per user's memberships", unit: "B", better: lower },
      pair,
      ({ membersBytes }) => membersBytes,
    ),
    measureOf(
      {
        key: "change_us",
        title: "a change of subgroups, until all memberships are known again",
        unit: "us",
        better: lower,
      },
      pair,
      (result) => result.changeMicroseconds,
    ),
  ];
}

function checkNs({ perSecond }: PermissionsResult): number {
  return 1e9 / perSecond;
}

/** Both must give the same answers: a fast wrong answer is worthless. */
function sameAnswers({ ours, baseline }: Pair<PermissionsResult>): Outcome["checks"][number] {
  const counts = new Set([...ours, ...baseline].map(({ allowedOfRound }) => allowedOfRound));
  const [count = 0] = counts;
  return {
    name: "ours and the baseline give the same answers",
    ok: counts.size === 1 && count > 0,
    detail: [...counts].join(" "),
  };
}

function notes({ ours }: Pair<PermissionsResult>): string[] {
  const worst = Math.max(...ours.map(checkNs));
  const memory = Math.max(...ours.map(({ usersBytes, membersBytes }) => usersBytes + membersBytes));
  return [
    ...(worst > TARGET_CHECK_NS
      ? [`A check took up to ${Math.round(worst)} ns; the target is ${TARGET_CHECK_NS} ns.`]
      : []),
    ...(memory > TARGET_USER_BYTES
      ? [`A user with memberships takes up to ${Math.round(memory)} bytes; the target is ${TARGET_USER_BYTES} bytes.`]
      : []),
    "The baseline's memory: only rows in a Map, and the members of each top group in a Set.",
  ];
}
