// Compares two revisions on the same scenarios: from the reports of alternating single runs to a table of base -> head.
// Two numbers differ if their ranges do not overlap; any other difference may be chance.

import type { Measure, Report } from "./result.ts";
import { type Spread, spreadOf } from "./statistics.ts";
import { formatNumber, formatSpread } from "./text-report.ts";

/** With fewer runs a range has no width, and everything would differ. */
const RUNS_MIN = 2;

export interface Compared {
  readonly scenario: string;
  readonly measure: Pick<Measure, "key" | "title" | "unit" | "better">;
  readonly base: Spread;
  readonly head: Spread;
  /** Head divided by base; null if one is missing. */
  readonly ratio: number | null;
  /** The conclusion. */
  readonly verdict: "same" | "better" | "worse";
}

/** Measures of both revisions, in the order of head. Each report holds one run of each phase. */
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

/** The value of a single run, which is its own median. */
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
