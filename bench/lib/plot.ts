// One plot as inline SVG: a handful of lines at most, axes with round numbers, a legend. Latency is drawn over "nines"
// (90, 99, 99.9 % are equidistant) with a logarithmic y axis, because the tail matters.

import { escapeHtml } from "./escape-html.ts";
import type { Line, Series } from "./result.ts";
import { formatNumber } from "./text-report.ts";

const WIDTH = 360;
const HEIGHT = 220;
const MARGIN = { left: 52, right: 10, top: 10, bottom: 34 };
const COLOURS = ["var(--ours)", "var(--baseline)", "var(--peer-1)", "var(--peer-2)", "var(--peer-3)", "var(--peer-4)"];
/** The width of a legend entry: six names fit side by side. */
const LEGEND_STEP = 50;
const TICKS = 5;
/** The hundredth percentile has infinitely many nines, so it is drawn at 99.999 %. */
const NINES_MAX = 5;
const LATENCY_TICKS = [0, 50, 90, 99, 99.9, 99.99];

interface Scale {
  readonly place: (value: number) => number;
  readonly ticks: readonly { readonly at: number; readonly label: string }[];
}

/** A figure with a caption. Series without points give an empty string. */
export function plot(series: Series): string {
  const points = series.lines.flatMap((line) => line.points);
  if (points.length === 0) return "";
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const horizontal = { from: MARGIN.left, to: WIDTH - MARGIN.right };
  const vertical = { from: HEIGHT - MARGIN.bottom, to: MARGIN.top };
  const isLatency = series.kind === "latency";
  const x = isLatency ? ninesScale(horizontal) : linearScale(Math.max(...xs), horizontal);
  const y = isLatency ? logScale(ys, vertical) : linearScale(Math.max(...ys), vertical);
  const lines = series.lines.map((line, index) =>
    pathOf(line, { x, y, colour: COLOURS[index % COLOURS.length] ?? "" }),
  );
  const title = `${series.title} (${series.yUnit} over ${series.xUnit})`;
  return `<figure><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(title)}">
${axes(x, y)}${lines.join("")}${legend(series.lines)}</svg><figcaption>${escapeHtml(title)}</figcaption></figure>`;
}

function pathOf(line: Line, style: { readonly x: Scale; readonly y: Scale; readonly colour: string }): string {
  const steps = line.points.map(([x, y]) => `${round(style.x.place(x))},${round(style.y.place(y))}`);
  return `<polyline points="${steps.join(" ")}" fill="none" stroke="${style.colour}" stroke-width="2"/>`;
}

function axes(x: Scale, y: Scale): string {
  const bottom = HEIGHT - MARGIN.bottom;
  const right = WIDTH - MARGIN.right;
  const across = y.ticks.map(
    ({ at, label }) =>
      `<line x1="${MARGIN.left}" x2="${right}" y1="${round(at)}" y2="${round(at)}" stroke="var(--line)"/>` +
      `<text x="${MARGIN.left - 5}" y="${round(at + 4)}" text-anchor="end">${label}</text>`,
  );
  const along = x.ticks.map(
    ({ at, label }) => `<text x="${round(at)}" y="${bottom + 15}" text-anchor="middle">${label}</text>`,
  );
  return [...across, ...along].join("");
}

function legend(lines: readonly Line[]): string {
  return lines
    .map((line, index) => {
      const left = MARGIN.left + index * LEGEND_STEP;
      const colour = COLOURS[index % COLOURS.length] ?? "";
      return (
        `<rect x="${left}" y="${HEIGHT - 10}" width="12" height="4" fill="${colour}"/>` +
        `<text x="${left + 16}" y="${HEIGHT - 5}">${escapeHtml(line.label)}</text>`
      );
    })
    .join("");
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** From zero to a round number at or above `max`. */
function linearScale(max: number, range: Range): Scale {
  const step = roundStep(max / TICKS);
  const top = step * Math.ceil(Math.max(max, step) / step);
  const place = (value: number): number => range.from + (value / top) * (range.to - range.from);
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step);
  return { place, ticks: ticks.map((value) => ({ at: place(value), label: shortNumber(value) })) };
}

/** Decades around the values. */
function logScale(values: readonly number[], range: Range): Scale {
  const positive = values.filter((value) => value > 0);
  const low = Math.floor(Math.log10(Math.min(1, ...positive)));
  const high = Math.ceil(Math.log10(Math.max(...positive, 10 ** (low + 1))));
  const place = (value: number): number => {
    const share = (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low);
    return range.from + share * (range.to - range.from);
  };
  const ticks = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
  return { place, ticks: ticks.map((value) => ({ at: place(value), label: shortNumber(value) })) };
}

function ninesScale(range: Range): Scale {
  const place = (percentile: number): number => {
    const nines = percentile >= 100 ? NINES_MAX : Math.min(NINES_MAX, -Math.log10(1 - percentile / 100));
    return range.from + (nines / NINES_MAX) * (range.to - range.from);
  };
  return { place, ticks: LATENCY_TICKS.map((value) => ({ at: place(value), label: value === 0 ? "0" : `${value}%` })) };
}

/** 1, 2 or 5 times a power of ten, at or above `raw`. */
function roundStep(raw: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(raw, Number.MIN_VALUE)));
  return power * ([1, 2, 5].find((factor) => factor * power >= raw) ?? 10);
}

function shortNumber(value: number): string {
  if (value >= 1_000_000) return `${formatNumber(value / 1_000_000)}M`;
  return value >= 1_000 ? `${formatNumber(value / 1_000)}k` : formatNumber(value);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
