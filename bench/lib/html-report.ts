// The report as one self-contained page, readable on a phone and in dark mode: no script, no external asset, plots as
// inline SVG (bench/lib/plot.ts). Its colors and sizes are those of the server's pages. All text from outside (command,
// notes, checks) is escaped.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { escapeHtml } from "./escape-html.ts";
import { plot } from "./plot.ts";
import { isMeasured, type Measure, peersIn, type Report, type ScenarioResult, transportsIn } from "./result.ts";
import { cellsOf, columnsOf } from "./text-report.ts";
import { PROJECT_ROOT } from "./workspace.ts";

/** Custom properties for light and dark, without comments. */
function readTokens(): string {
  const tokens = readFileSync(join(PROJECT_ROOT, "packages/web/src/styles/tokens.css"), "utf8");
  return tokens.replace(/\/\*.*?\*\//gs, "").trim();
}

const STYLE = `
:root{--ours:var(--accent);--baseline:var(--text-quiet);--peer-1:var(--idle);--peer-2:var(--code-keyword);--peer-3:var(--good);--peer-4:var(--danger)}
*{box-sizing:border-box}
body{margin:0 auto;padding:20px 20px 48px;max-width:68rem;background:var(--ground-side);color:var(--text);font:var(--text-size)/1.5 var(--font)}
h1{margin:0;font-size:1.4rem;font-weight:650;letter-spacing:-.01em}h2{margin:0 0 2px;font-size:1.1rem;font-weight:650}p{margin:4px 0}
code{padding:1px 5px;border-radius:var(--radius-small);background:var(--ground-sunk);font-family:var(--font-code);font-size:.9em;overflow-wrap:anywhere}
.scenario{margin-top:18px;padding:16px 18px;border:1px solid var(--line);border-radius:var(--radius);background:var(--ground-raised)}
.wide{overflow-x:auto;margin-top:8px}table{width:100%;border-collapse:collapse;font-size:.93em}
th,td{padding:7px 14px 7px 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
th{color:var(--text-quiet);font-size:.85em;font-weight:600}tr:last-child td{border-bottom:0}
td+td,th+th{font-variant-numeric:tabular-nums;white-space:nowrap}
.small{color:var(--text-quiet);font-size:.88em}
.bad{padding:6px 10px;border-radius:var(--radius-small);background:var(--danger-soft);color:var(--danger)}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(17rem,1fr));gap:16px;margin-top:12px}
figure{margin:0}figcaption{color:var(--text-quiet);font-size:.85em}svg{display:block;width:100%;height:auto}
svg text{font:11px var(--font);fill:var(--text-quiet)}polyline{stroke-linejoin:round;stroke-linecap:round}
@media (max-width:600px){body{padding:12px 12px 32px}.scenario{padding:12px}}
`;

/** The whole page. */
export function formatHtml(report: Report): string {
  const { machine } = report;
  const facts = [
    `${machine.processor}, ${machine.cores} cores, ${(machine.memoryBytes / 2 ** 30).toFixed(1)} GB`,
    `${machine.kernel}, Node ${machine.node}`,
    `4 KB fdatasync ${machine.fdatasyncUs} us`,
    `load before ${machine.loadBefore.toFixed(2)}`,
    `seed ${report.seed}`,
    `server ${report.server}`,
    `transport ${transportsIn(report)}`,
  ];
  return `<!doctype html>
<html lang="en" data-theme="system"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark">
<title>Bench ${escapeHtml(report.date)}</title><style>${readTokens()}${STYLE}</style></head><body>
<h1>Bench</h1><p>${escapeHtml(report.date)}</p><p><code>${escapeHtml(report.command)}</code></p>
<p class="small">${facts.map(escapeHtml).join(" · ")}</p>
<p class="small">Each number is the median of the runs, with the smallest and the largest in brackets. The baseline does the
minimum that any such server must do, in the same run; ratio is ours divided by the baseline. A peer is an alternative to this server.</p>
${report.scenarios.map(formatScenario).join("\n")}
</body></html>
`;
}

function formatScenario(result: ScenarioResult): string {
  const { settings } = result;
  const failed = result.checks.filter((check) => !check.ok);
  const size = `connections ${settings.connections}, ${settings.durationSeconds} s x ${settings.runs} runs after ${settings.warmupSeconds} s of warm-up; baseline ${result.baselineProgram}`;
  const peers = peersIn(result.measures);
  return `<section class="scenario"><h2>${escapeHtml(result.scenario)}</h2><p>${escapeHtml(result.summary)}</p><p class="small">${escapeHtml(size)}</p>
<div class="wide"><table><tr>${columnsOf(peers)
    .map((cell) => `<th>${escapeHtml(cell)}</th>`)
    .join("")}</tr>
${result.measures
  .filter(isMeasured)
  .map((measure) => formatMeasure(measure, peers))
  .join("\n")}</table></div>
${failed.map((check) => `<p class="bad">FAILED ${escapeHtml(check.name)}: ${escapeHtml(check.detail)}</p>`).join("\n")}
${result.notes.map((note) => `<p class="small">${escapeHtml(note)}</p>`).join("\n")}
<div class="plots">${result.series.map(plot).join("\n")}</div></section>`;
}

function formatMeasure(measure: Measure, peers: readonly string[]): string {
  const hint = measure.better === "higher" ? "more is better" : "less is better";
  const title = `${escapeHtml(measure.title)} <span class="small">(${hint})</span>`;
  return `<tr><td>${title}</td>${cellsOf(measure, peers)
    .map((cell) => `<td>${escapeHtml(cell)}</td>`)
    .join("")}</tr>`;
}
