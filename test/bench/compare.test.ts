// Comparing two revisions: what counts as a difference, and the command itself on the smallest scenario, HEAD with
// HEAD.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { Child } from "../../bench/lib/child.ts";
import { compare, formatComparison } from "../../bench/lib/comparison.ts";
import type { Measure, Report } from "../../bench/lib/result.ts";
import { spreadOf } from "../../bench/lib/statistics.ts";
import { PROJECT_ROOT } from "../../bench/lib/workspace.ts";

/** A report of one run with one measure. */
function reportOf(value: number, better: Measure["better"]): Report {
  const measure = { key: "posts_per_s", title: "posts", unit: "/s", better, ours: spreadOf([value]), baseline: null };
  // The comparison reads nothing else of a report.
  return { scenarios: [{ scenario: "send", measures: [{ ...measure, ratio: null }] }] } as unknown as Report;
}

function verdictOf(base: readonly number[], head: readonly number[], better: Measure["better"] = "higher") {
  const reportsOf = (values: readonly number[]) => values.map((value) => reportOf(value, better));
  return compare(reportsOf(base), reportsOf(head)).map(({ verdict }) => verdict);
}

t.test("two revisions differ only if their ranges do not overlap", async (t) => {
  t.same(verdictOf([100, 110], [120, 130]), ["better"]);
  t.same(verdictOf([100, 110], [120, 130], "lower"), ["worse"]);
  t.same(verdictOf([120, 130], [100, 110]), ["worse"]);
  t.same(verdictOf([100, 120], [120, 130]), ["same"], "they touch");
  t.same(verdictOf([100, 130], [110, 120]), ["same"], "one range contains the other");
  t.same(verdictOf([100], [130]), ["same"], "one run has no range");
  t.same(verdictOf([], [130]), [], "not measured in the base");
});

t.test("the table shows base, head, both ranges and their difference", async (t) => {
  const compared = compare(
    [100, 110].map((value) => reportOf(value, "higher")),
    [210, 210].map((value) => reportOf(value, "higher")),
  );
  t.equal(formatComparison(compared), "send:\n  posts: 105/s [100 - 110] -> 210/s [210 - 210]  x 2  differ: better");
});

const isCheckout = existsSync(join(PROJECT_ROOT, ".git"));
t.test(
  "bench:compare measures HEAD and the work tree, and leaves no files behind",
  {
    skip: isCheckout ? false : "not a git checkout",
  },
  async (t) => {
    const worktrees = () => execFileSync("git", ["worktree", "list"], { cwd: PROJECT_ROOT, encoding: "utf8" });
    const before = worktrees();
    const command = run("HEAD", "start", "--size", "tiny", "--runs", "1");
    t.same(await command.exited, { code: 0, signal: null, killed: false }, command.output);
    t.match(command.output, /^start:$/m);
    t.match(command.output, /start to first answer: [\d,.]+ ms -> [\d,.]+ ms {2}x [\d.]+$/m);
    t.match(command.output, /^base [0-9a-f]{7,}, head the work tree; 1 runs each/m);
    t.equal(worktrees(), before);
  },
);

t.test("an unknown revision or scenario ends with a line that names it", async (t) => {
  for (const [message, code, args] of [
    [/unknown scenario nothing/, 2, ["HEAD", "nothing"]],
    [/no-such-revision|not a git repository/, 1, ["no-such-revision", "start"]],
    [/missing required argument/, 2, []],
  ] as const) {
    const command = run(...args);
    t.match(await command.exited, { code }, args.join(" "));
    t.match(command.output, message);
  }
});

function run(...args: readonly string[]): Child {
  return new Child({
    arguments: ["--import=tsx", "bench/compare.ts", ...args],
    folder: PROJECT_ROOT,
    channel: false,
    environment: {},
  });
}
