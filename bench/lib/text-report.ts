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
  return ["", "CPU per operation", "ours", "baseline", "ratio", ...peers.flatMap((name) => [name, `ours / ${name}`])];
}

function rowOf(measure: Measure, peers: readonly string[]): string[] {
  return [measure.title, ...cellsOf(measure, peers)];
}

/** The cells of a measure, without the first. */
export function cellsOf(measure: Measure, peers: readonly string[]): string[] {
  const { unit } = measure;
  const cellOf = (side: string, value: Spread | null): string =>
    `${value !== null && isSaturated(measure, side) ? boundSign(measure, "ours") : ""}${formatSpread(value, unit)}`;
  return [
    formatCost(measure),
    cellOf("ours", measure.ours),
    cellOf("baseline", measure.baseline),
    formatRatio(measure, "baseline", measure.ratio),
    ...peers.flatMap((name) => {
      const { value = null, ratio = null } = measure.peers?.[name] ?? {};
      return [cellOf(name, value), formatRatio(measure, name, ratio)];
    }),
  ];
}

/** `41.2 us, x 3.1 [3 - 3.3]`: this server's CPU per operation, and its ratio to the baseline's. */
function formatCost({ cpuUs }: Measure): string {
  if (cpuUs === undefined || cpuUs.ours === null) return "";
  return cpuUs.ratio === null
    ? formatSpread(cpuUs.ours, "us")
    : `${formatSpread(cpuUs.ours, "us")}, x ${formatSpread(cpuUs.ratio, "")}`;
}

/** A run with a saturated generator gives a bound of the ratio; if both sides had one, it gives none. */
function formatRatio(measure: Measure, other: string, ratio: Spread | null): string {
  const saturated = (["ours", other] as const).filter((side) => isSaturated(measure, side));
  const [only] = saturated;
  if (ratio === null || saturated.length === 2) return "-";
  if (only === undefined) return formatSpread(ratio, "");
  return `${boundSign(measure, only === "ours" ? "ours" : "other")}${formatNumber(ratio.median)}`;
}

function isSaturated({ saturated = [] }: Measure, side: string): boolean {
  return saturated.includes(side);
}

/**
 * A faster generator finds more throughput and less latency. So a saturated one bounds its own side's number, and the
 * ratio to it in the other direction if the side is the one that is divided by.
 */
function boundSign({ better }: Measure, side: "ours" | "other"): string {
  return (better === "higher") === (side === "ours") ? ">= " : "<= ";
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
