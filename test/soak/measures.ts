/** What a soak measured, and what is made of it: a line through the memory, and how latency moved from the first to the last third. */

export interface Sample {
  readonly atS: number;
  readonly rssMib: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface SoakReport {
  readonly requests: number;
  readonly refused: number;
  readonly seconds: number;
  /** Of a line of least squares through what the process held. */
  readonly rssMibPerHour: number;
  /** Median of the last third of the samples over that of the first. */
  readonly p50Drift: number;
  readonly p99Drift: number;
  readonly samples: readonly Sample[];
}

/** What a soak may come to: above it, something grows or gets slower. */
export const soakBounds = { rssMibPerHourMax: 120, p50DriftMax: 2, p99DriftMax: 3 } as const;

export function slopePerSecond(points: readonly (readonly [x: number, y: number])[]): number {
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / points.length;
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  if (spread === 0) return 0;
  return points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

function drift(values: readonly number[]): number {
  const third = Math.max(1, Math.floor(values.length / 3));
  const before = percentile(values.slice(0, third), 0.5);
  return before === 0 ? 1 : percentile(values.slice(-third), 0.5) / before;
}

export function reportOf(samples: readonly Sample[], requests: number, refused: number): SoakReport {
  // The first part of a life is filling: caches, tables, compiled code.
  const settled = samples.slice(Math.floor(samples.length / 4));
  return {
    requests,
    refused,
    seconds: samples.at(-1)?.atS ?? 0,
    rssMibPerHour: slopePerSecond(settled.map(({ atS, rssMib }) => [atS, rssMib])) * 3600,
    p50Drift: drift(settled.map(({ p50Ms }) => p50Ms)),
    p99Drift: drift(settled.map(({ p99Ms }) => p99Ms)),
    samples,
  };
}

/** @returns what is over its bound, a line each */
export function faultsOf({ rssMibPerHour, p50Drift, p99Drift, refused }: SoakReport): string[] {
  const measured: readonly (readonly [string, number, number])[] = [
    ["memory, MiB an hour", rssMibPerHour, soakBounds.rssMibPerHourMax],
    ["drift of the median latency", p50Drift, soakBounds.p50DriftMax],
    ["drift of the 99th percentile", p99Drift, soakBounds.p99DriftMax],
    ["requests that failed", refused, 0],
  ];
  return measured.filter(([, value, most]) => value > most).map(([name, value, most]) => `${name}: ${value} > ${most}`);
}
