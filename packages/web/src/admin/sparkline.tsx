/** The last hour of a figure as a line: the newest sample at the right, the highest one at the top. */
import { useState } from "preact/hooks";
import { clockOf, shown, type Unit } from "./format.ts";
import { history, type Series, samplesMax } from "./live.ts";

export interface Line {
  readonly label: string;
  readonly values: Series;
}

const width = 240;
const height = 44;
/** Samples that share a point, which shows the highest of them: a short peak stays visible. */
const samplesPerPoint = 3;

interface Point {
  readonly x: number;
  readonly value: number | null;
}

function highest(values: Series): number | null {
  let top: number | null = null;
  for (const value of values) if (value !== null && (top === null || value > top)) top = value;
  return top;
}

/** Right-aligned: a server that has just started has a short line. */
function pointsOf(values: Series): Point[] {
  const points: Point[] = [];
  const step = width / (samplesMax.value - 1);
  for (let end = values.length; end > 0; end -= samplesPerPoint) {
    const part = values.slice(Math.max(0, end - samplesPerPoint), end);
    points.push({ x: width - (values.length - end) * step, value: highest(part) });
  }
  return points.reverse();
}

/** Pieces without gaps. */
function runsOf(points: readonly Point[]): { readonly x: number; readonly value: number }[][] {
  const runs: { x: number; value: number }[][] = [[]];
  for (const { x, value } of points) {
    if (value === null) runs.push([]);
    else runs.at(-1)?.push({ x, value });
  }
  return runs.filter((run) => run.length > 0);
}

function pathOf(values: Series, top: number, isFilled: boolean): string {
  const y = (value: number) => (height - 2 - (value / top) * (height - 5)).toFixed(1);
  return runsOf(pointsOf(values))
    .map((run) => {
      const line = run.map(({ x, value }, at) => `${at === 0 ? "M" : "L"}${x.toFixed(1)} ${y(value)}`).join("");
      const [first, last] = [run[0]?.x ?? 0, run.at(-1)?.x ?? 0];
      if (isFilled) return `${line}L${last.toFixed(1)} ${height}L${first.toFixed(1)} ${height}Z`;
      // A single point is a line of no length, which round ends make visible.
      return run.length === 1 ? `${line}h0` : line;
    })
    .join("");
}

interface Props {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly unit: Unit;
}

export function Sparkline({ title, lines, unit }: Props) {
  /** Samples before the newest one. */
  const [pointed, setPointed] = useState<number | null>(null);
  const peak = highest(lines.flatMap(({ values }) => values));
  const top = peak === null || peak === 0 ? 1 : peak;
  const step = width / (samplesMax.value - 1);
  const point = (event: PointerEvent) => {
    const { left, width: shownWidth } = (event.currentTarget as Element).getBoundingClientRect();
    const before = Math.round(((left + shownWidth - event.clientX) / shownWidth) * (samplesMax.value - 1));
    setPointed(before >= 0 && before < history.value.at.length ? before : null);
  };
  const at = pointed === null ? undefined : history.value.at.at(-1 - pointed);
  const now = lines.map(({ label, values }) => `${label} ${shown(values.at(-1), unit)}`).join(", ");
  return (
    <div class="spark">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${now}, at most ${shown(peak, unit)} in the last hour`}
        onPointerMove={point}
        onPointerLeave={() => setPointed(null)}
      >
        <path class="base" d={`M 0 ${height - 1}H${width}`} />
        {lines.map(({ label, values }, index) => (
          <g key={label} class={`line-${index}`}>
            <path class="area" d={pathOf(values, top, true)} />
            <path class="line" d={pathOf(values, top, false)} />
          </g>
        ))}
        {pointed === null ? null : <path class="pointer" d={`M${(width - pointed * step).toFixed(1)} 0V${height}`} />}
      </svg>
      <p class="spark-note">
        {at === undefined || pointed === null ? (
          <span>peak {shown(peak, unit)}</span>
        ) : (
          <>
            <span>{lines.map(({ values }) => shown(values.at(-1 - pointed), unit)).join(" · ")}</span>
            <span>{clockOf(at)}</span>
          </>
        )}
      </p>
    </div>
  );
}
