/** Runs tiny scenarios of the bench against the real server and checks their results; several test files share this. */
import type { Test } from "tap";
import { startProgress } from "../../bench/lib/progress.ts";
import type { Measure, ScenarioResult } from "../../bench/lib/result.ts";
import { runScenario } from "../../bench/lib/runner.ts";
import { openWorkspace } from "../../bench/lib/workspace.ts";
import { scenarios } from "../../bench/scenarios/all.ts";

/** Numbers that every scenario must report, above zero, for this server and for the baseline. */
export const COUNTED: Readonly<Record<string, readonly string[]>> = {
  start: ["ready_ms", "start_cpu_ms", "idle_rss_mb", "idle_pss_mb"],
  "start-filled": ["ready_ms", "start_cpu_ms"],
  "start-killed": ["ready_ms", "start_cpu_ms"],
  send: ["posts_per_s", "posts_loop_delay_p99_ms", "paced_latency_p50_ms", "alone_p50_ms"],
  cost: ["stored_2000_cpu_us", "subscribers_50_cpu_us"],
  settings: ["changes_per_s", "changes_loop_delay_p99_ms", "paced_latency_p50_ms", "alone_p50_ms"],
  status: ["changes_per_s", "changes_loop_delay_p99_ms", "paced_latency_p50_ms", "alone_p50_ms"],
  organizations: ["posts_per_s", "posts_loop_delay_p99_ms", "paced_latency_p50_ms"],
  "slow-disk": ["posts_per_s", "reads_p50_ms"],
  // The baseline is idle between its few transactions: its event-loop delay is not worth reporting.
  "create-channel": ["create_mean_ms", "create_slowest_ms"],
  read: ["message_per_s", "page_per_s", "users_per_s", "message_paced_p50_ms"],
  history: ["topic_per_s", "message_per_s", "word_per_s", "in_topic_per_s", "unread_per_s", "topic_paced_p50_ms"],
  users: ["users_per_s"],
  register: ["register_p50_ms"],
  "mark-read": ["mark_ms", "posts_p50_ms"],
  "delete-topic": ["delete_s", "posts_p50_ms"],
  moves: ["rename_slowest_ms", "departure_slowest_ms"],
  backup: ["posts_p50_ms"],
  disk: ["message_bytes"],
  fanout: ["deliveries_per_s", "deliveries_loop_delay_p99_ms", "paced_each_p50_ms", "paced_last_p50_ms"],
  presence: ["pings_per_s", "paced_latency_p50_ms"],
  typing: ["changes_per_s", "deliveries_per_s", "paced_each_p50_ms"],
  mixed: ["requests_per_s", "paced_per_s", "paced_events_p50_ms", "paced_upload_p50_ms", "paced_post_p50_ms"],
  reconnect: ["all_live_ms", "resume_p50_ms"],
  idle: ["sockets_opened_per_s", "pss_all_mb"],
  "idle-organizations": ["pss_mb"],
  edges: ["deliveries_per_s", "paced_each_p50_ms", "paced_last_p50_ms"],
  failover: ["gap_ms", "posts_per_s"],
  // At this size other heap activity hides the memory of so few users, so only the time is checked.
  permissions: ["check_ns"],
};

const median = (result: ScenarioResult, key: string, side: "ours" | "baseline"): number =>
  result.measures.find((measure: Measure) => measure.key === key)?.[side]?.median ?? 0;

/** One test file each, which run concurrently. */
export const groups = {
  posts: ["start", "send", "settings", "status"],
  changes: ["create-channel", "mark-read", "delete-topic", "moves", "backup", "disk", "permissions"],
  stored: ["start-filled", "start-killed", "cost", "organizations", "slow-disk"],
  reads: ["read", "history", "users", "register"],
  push: ["fanout", "presence", "typing", "idle", "idle-organizations"],
  clients: ["mixed", "reconnect"],
  cluster: ["send", "fanout", "edges", "mixed", "failover"],
} as const;

/** On a busy machine a second has some completed requests, and some ticks of CPU time (10 ms each). */
const durationSeconds = 1;
/**
 * What is due is answered within seconds after its end, even if each flush of a busy disk takes a tenth of one. Of mixed
 * requests few are posts, and some must be.
 */
const rateMax = (name: string) => (name === "mixed" ? 200 : 100);

/** Durations are not checked: counts must be above zero, and a scenario's own checks must pass. */
export function proveScenarios(
  t: Test,
  group: keyof typeof groups,
  { cluster = null }: { readonly cluster?: number | null } = {},
): void {
  const names: readonly string[] = groups[group];
  const workspace = openWorkspace();
  t.teardown(() => workspace.remove());
  for (const scenario of scenarios.filter(({ name }) => names.includes(name))) {
    const skip = scenario.missing?.() ?? false;
    const what = cluster === null ? scenario.name : `${scenario.name} on a cluster`;
    t.test(`${what}, tiny, gives a complete result on the real server`, { skip }, async (t) => {
      const result = await runScenario(scenario, {
        size: "tiny",
        overrides: {
          durationSeconds,
          ratePerSecond: Math.min(scenario.sizes.tiny.ratePerSecond, rateMax(scenario.name)),
        },
        seed: 1,
        server: null,
        cluster,
        workspace,
        progress: startProgress({ isTTY: false } as NodeJS.WriteStream),
      });
      const found = result.checks.filter((check) => !check.ok);
      t.same(found, []);
      t.ok(result.checks.length > 0);
      for (const key of COUNTED[scenario.name] ?? []) {
        t.ok(median(result, key, "ours") > 0, `${key} of ours`);
        t.ok(median(result, key, "baseline") > 0, `${key} of the baseline`);
      }
      for (const { key, ours } of result.measures) {
        if (ours !== null) t.equal(ours.runs.length, result.settings.runs, `${key} has one value per run`);
      }
      const plotted = result.series.flatMap((series) => series.lines.map((line) => line.points.length));
      t.ok(plotted.every((points) => points > 0));
      t.ok(["start", "failover"].some((name) => scenario.name.startsWith(name)) || plotted.length > 0);
      t.same(JSON.parse(JSON.stringify(result)), result, "the result survives JSON");
    });
  }
}
