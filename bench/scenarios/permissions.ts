// `permissions`: what a permission costs that a group holds, and what it takes in memory to answer it. 1,000 groups in chains of
// five, 50,000 people, each in two of them; no server and no socket, the very functions and projections that the server uses, in a
// fresh process for each run. The floor keeps the answer of each question as a bare Map of Sets (bench/generator/permissions.ts).

import type { PermissionsResult } from "../lib/job.ts";
import { measureOf, throughputSeries } from "../lib/measures.ts";
import type { Measure, Outcome } from "../lib/result.ts";
import { type Context, generate, type Pair, runSeconds, type Scenario } from "../lib/scenario.ts";

const GROUPS = 1_000;
const DEPTH = 5;
/** Aims of the issue: nanoseconds of a check, bytes of memory for a person. */
const CHECK_NS_AIM = 1_000;
const PERSON_BYTES_AIM = 300;

const common = { connections: 0, ratePerSecond: 0, receivers: 0 } as const;

export const permissions: Scenario = {
  name: "permissions",
  summary: "a permission check through five levels of groups, memory of people and memberships",
  floor: "generator/main",
  worksOnUrl: false,
  sizes: {
    tiny: { ...common, durationSeconds: 0.1, warmupSeconds: 0.05, runs: 1, users: 2_000 },
    small: { ...common, durationSeconds: 1, warmupSeconds: 0.5, runs: 3, users: 50_000 },
    full: { ...common, durationSeconds: 3, warmupSeconds: 1, runs: 7, users: 50_000 },
  },
  run,
};

async function run(context: Context): Promise<Outcome> {
  const { settings, progress, seed } = context;
  const pair = { ours: [] as PermissionsResult[], floor: [] as PermissionsResult[] };
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
    for (const side of index % 2 === 0 ? (["ours", "floor"] as const) : (["floor", "ours"] as const)) {
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
      { key: "person_bytes", title: "memory for a person", unit: "B", better: lower },
      pair,
      ({ usersBytes }) => usersBytes,
    ),
    measureOf(
      { key: "memberships_bytes", title: "memory for a person's memberships", unit: "B", better: lower },
      pair,
      ({ membersBytes }) => membersBytes,
    ),
    measureOf(
      { key: "change_us", title: "a change of subgroups, until all groups are known again", unit: "us", better: lower },
      pair,
      (result) => result.changeUs,
    ),
  ];
}

function checkNs({ perSecond }: PermissionsResult): number {
  return 1e9 / perSecond;
}

/** Both were asked the same: a fast wrong answer is none. */
function sameAnswers({ ours, floor }: Pair<PermissionsResult>): Outcome["checks"][number] {
  const counts = new Set([...ours, ...floor].map(({ allowedOfRound }) => allowedOfRound));
  const [count = 0] = counts;
  return {
    name: "ours and the floor answer the same",
    ok: counts.size === 1 && count > 0,
    detail: [...counts].join(" "),
  };
}

function notes({ ours }: Pair<PermissionsResult>): string[] {
  const worst = Math.max(...ours.map(checkNs));
  const memory = Math.max(...ours.map(({ usersBytes, membersBytes }) => usersBytes + membersBytes));
  return [
    ...(worst > CHECK_NS_AIM ? [`A check took up to ${Math.round(worst)} ns: the aim is ${CHECK_NS_AIM} ns.`] : []),
    ...(memory > PERSON_BYTES_AIM
      ? [`A person with memberships takes up to ${Math.round(memory)} bytes: the aim is ${PERSON_BYTES_AIM} bytes.`]
      : []),
    "The floor's memory: rows alone in a Map, and each uppermost group's members in a Set.",
  ];
}
