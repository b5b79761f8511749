// The report on a terminal: one table per scenario, then failed checks and notes.

import { isMeasured, type Measure, peersIn, type Report, type ScenarioResult, transportsIn } from "./result.ts";
import type { Spread } from "./statistics.ts";

/** Lines of plain text, without a trailing newline. */
export function formatText(report: Report): string {
  const { machine } = report;
  const head = [
    `${report.date}  ${report.command}`,
    `${machine.processor}, ${machine.cores} cores, ${machine.kernel}, Node ${machine.node}, 4 KB fdatasync ${machine.fdatasyncUs} us, load before ${machine.loadBefore.toFixed(2)}, seed ${report.seed}, server ${report.server}, transport ${transportsIn(report)}`,
  ];
  return [...head, ...report.scenarios.flatMap((scenario) => ["", ...formatScenario(scenario)])].join("\n");
}

function formatScenario(result: ScenarioResult): string[] {
  const { connections, durationSeconds, runs } = result.settings;
  const size = `connections ${connections}, ${durationSeconds} s x ${runs} runs, took ${result.tookSeconds.toFixed(0)} s`;
  const peers = peersIn(result.measures);
  const rows = [columnsOf(peers), ...result.measures.filter(isMeasured).map((measure) => rowOf(measure, peers))];
  return [
    `${result.scenario}: ${result.summary}`,
    `  ${size}; baseline ${result.baselineProgram}`,
    ...alignColumns(rows).map((line) => `  ${line}`),
    ...result.checks.filter((check) => !check.ok).map((check) => `  FAILED ${check.name}: ${check.detail}`),
    ...result.notes.map((note) => `  note: ${note}`),
  ];
}

/** Column headings of a table of measures. */
export function columnsOf(peers: readonly string[]): string[] {
  return ["", "ours", "baseline", "ratio", ...peers.flatMap((name) => [name, `ours / ${name}`])];
}

function rowOf(measure: Measure, peers: readonly string[]): string[] {
  return [measure.title, ...cellsOf(measure, peers)];
}

/** The cells of a measure, without the first. */
export function cellsOf(measure: Measure, peers: readonly string[]): string[] {
  const { unit } = measure;
  return [
    formatSpread(measure.ours, unit),
    formatSpread(measure.baseline, unit),
    formatSpread(measure.ratio, ""),
    ...peers.flatMap((name) => {
      const { value = null, ratio = null } = measure.peers?.[name] ?? {};
      return [formatSpread(value, unit), formatSpread(ratio, "")];
    }),
  ];
}

/** `median unit [min - max]`; a dash for a missing value. */
export function formatSpread(spread: Spread | null, unit: string): string {
  if (spread === null) return "-";
  const value = `${formatNumber(spread.median)}${unit.startsWith("/") || unit === "" ? unit : ` ${unit}`}`;
  return spread.runs.length < 2 ? value : `${value} [${formatNumber(spread.min)} - ${formatNumber(spread.max)}]`;
}

/** Three significant digits, thousands grouped. */
export function formatNumber(value: number): string {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
