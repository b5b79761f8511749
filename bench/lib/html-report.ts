// The report as one self-contained page, readable on a phone and in dark mode: no script, no external asset, plots as
// inline SVG (bench/lib/plot.ts). All text from outside (command, notes, checks) is escaped.

import { escapeHtml } from "./escape-html.ts";
import { plot } from "./plot.ts";
import { isMeasured, type Measure, peersIn, type Report, type ScenarioResult, transportsIn } from "./result.ts";
import { cellsOf, columnsOf } from "./text-report.ts";

const STYLE = `
:root{color-scheme:light dark;--ours:#0a6ebd;--baseline:#8a8f98;--peer-1:#c2701c;--peer-2:#7a4bb5;--peer-3:#2e8b57;--peer-4:#b03a6f;--line:#c9ccd1;--bad:#c0392b}
body{font:16px/1.45 system-ui,sans-serif;margin:0 auto;padding:1rem;max-width:60rem}
h1{font-size:1.4rem;margin:.2rem 0}h2{font-size:1.15rem;margin:2rem 0 .2rem}p{margin:.3rem 0}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;width:100%}
th,td{text-align:left;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top}
td+td,th+th{font-variant-numeric:tabular-nums;white-space:nowrap}
.small{font-size:.85rem;opacity:.8}.bad{color:var(--bad)}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(17rem,1fr));gap:1rem;margin-top:.8rem}
figure{margin:0}figcaption{font-size:.85rem}svg{width:100%;height:auto;display:block}
svg text{font:11px system-ui,sans-serif;fill:currentColor}
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
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Bench ${escapeHtml(report.date)}</title><style>${STYLE}</style></head><body>
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
  return `<h2>${escapeHtml(result.scenario)}</h2><p>${escapeHtml(result.summary)}</p><p class="small">${escapeHtml(size)}</p>
<div class="wide"><table><tr>${columnsOf(peers)
    .map((cell) => `<th>${escapeHtml(cell)}</th>`)
    .join("")}</tr>
${result.measures
  .filter(isMeasured)
  .map((measure) => formatMeasure(measure, peers))
  .join("\n")}</table></div>
${failed.map((check) => `<p class="bad">FAILED ${escapeHtml(check.name)}: ${escapeHtml(check.detail)}</p>`).join("\n")}
${result.notes.map((note) => `<p class="small">${escapeHtml(note)}</p>`).join("\n")}
<div class="plots">${result.series.map(plot).join("\n")}</div>`;
}

function formatMeasure(measure: Measure, peers: readonly string[]): string {
  const hint = measure.better === "higher" ? "more is better" : "less is better";
  const title = `${escapeHtml(measure.title)} <span class="small">(${hint})</span>`;
  return `<tr><td>${title}</td>${cellsOf(measure, peers)
    .map((cell) => `<td>${escapeHtml(cell)}</td>`)
    .join("")}</tr>`;
}
