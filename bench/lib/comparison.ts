// Two revisions, the same scenarios: from the reports of single runs, made in turn, to a table of base -> head. Two numbers differ
// when their brackets do not meet; anything else may be chance.

import type { Measure, Report } from "./result.ts";
import { type Spread, spreadOf } from "./statistics.ts";
import { formatNumber, formatSpread } from "./text-report.ts";

/** Below this a bracket has no width, and everything would differ. */
const RUNS_MIN = 2;

export interface Compared {
  readonly scenario: string;
  readonly measure: Pick<Measure, "key" | "title" | "unit" | "better">;
  readonly base: Spread;
  readonly head: Spread;
  /** Head divided by base; null when there is nothing to divide. */
  readonly ratio: number | null;
  /** What can be said of it. */
  readonly verdict: "same" | "better" | "worse";
}

/** What both revisions measured, in the order of head. Each report holds one run of each phase. */
export function compare(base: readonly Report[], head: readonly Report[]): Compared[] {
  const [first] = head;
  return (first?.scenarios ?? []).flatMap(({ scenario, measures }) =>
    measures.flatMap((measure) => {
      const [before, after] = [base, head].map((reports) => spreadOf(reports.map(valueIn(scenario, measure.key))));
      if (before == null || after == null) return [];
      const { key, title, unit, better } = measure;
      const ratio = before.median === 0 ? null : after.median / before.median;
      const verdict = verdictOf(before, after, better);
      return [{ scenario, measure: { key, title, unit, better }, base: before, head: after, ratio, verdict }];
    }),
  );
}

/** The median of the single run's own figure for ours. */
function valueIn(scenario: string, key: string): (report: Report) => number | null {
  return ({ scenarios }) => {
    const measures = scenarios.find((result) => result.scenario === scenario)?.measures ?? [];
    return measures.find((measure) => measure.key === key)?.ours?.median ?? null;
  };
}

function verdictOf(base: Spread, head: Spread, better: Measure["better"]): Compared["verdict"] {
  const meet = base.min <= head.max && head.min <= base.max;
  if (meet || Math.min(base.runs.length, head.runs.length) < RUNS_MIN) return "same";
  return head.median > base.median === (better === "higher") ? "better" : "worse";
}

/** Lines of plain text, without a trailing newline. */
export function formatComparison(compared: readonly Compared[]): string {
  const lines: string[] = [];
  let scenario = "";
  for (const entry of compared) {
    if (entry.scenario !== scenario) lines.push("", `${entry.scenario}:`);
    scenario = entry.scenario;
    const { title, unit } = entry.measure;
    const change = entry.ratio === null ? "" : `  x ${formatNumber(entry.ratio)}`;
    const verdict = entry.verdict === "same" ? "" : `  differ: ${entry.verdict}`;
    lines.push(`  ${title}: ${formatSpread(entry.base, unit)} -> ${formatSpread(entry.head, unit)}${change}${verdict}`);
  }
  return lines.join("\n").trimStart();
}
