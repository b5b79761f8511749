/**
 * The measurements of a soak and their evaluation: regression lines through the memory, and the change of latency from
 * the first to the last third.
 */
import type { Memory } from "./memory.ts";

export interface Sample extends Memory {
  readonly atS: number;
  /** Requests since the first sample. */
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface SoakReport {
  readonly requests: number;
  readonly refused: number;
  readonly seconds: number;
  /** Slopes of least-squares lines. The first two must stay below a bound: memory that the process itself keeps. */
  readonly anonMibPerHour: number;
  readonly heapMibPerHour: number;
  /**
   * Heap that each request leaves behind, independent of the rate. It must stay below a bound if the total exceeds
   * `heapStepsMib`.
   */
  readonly heapBytesPerRequest: number;
  /** Grows with the store and its mapped pages: reported, not bounded. */
  readonly fileMibPerHour: number;
  /** Median of the last third of the samples divided by that of the first. */
  readonly p50Drift: number;
  readonly p99Drift: number;
  readonly samples: readonly Sample[];
}

/** Bounds of a soak: above them something grows or gets slower. */
export const soakBounds = {
  anonMibPerHourMax: 120,
  heapMibPerHourMax: 120,
  /** In addition to `heapStepsMib`. Stricter than the hourly slope below 2,000 requests per second. */
  heapBytesPerRequestMax: 16,
  /**
   * Growth that is allowed once: a step of about 1 MiB was seen, probably a hash table that doubles, or compiled code.
   */
  heapStepsMib: 2,
  p50DriftMax: 2,
  p99DriftMax: 3,
} as const;

export function slope(points: readonly (readonly [x: number, y: number])[]): number {
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

function bytesPerRequest(samples: readonly Sample[]): number {
  const sent = (samples.at(-1)?.requests ?? 0) - (samples[0]?.requests ?? 0);
  const grownMib = slope(samples.map(({ requests, heapMib }) => [requests, heapMib])) * sent;
  return (Math.max(0, grownMib - soakBounds.heapStepsMib) * 2 ** 20) / Math.max(1, sent);
}

export function reportOf(samples: readonly Sample[], requests: number, refused: number): SoakReport {
  // At first caches, tables and compiled code grow, so the first quarter is left out.
  const settled = samples.slice(Math.floor(samples.length / 4));
  const perHour = (name: keyof Memory) => slope(settled.map((sample) => [sample.atS, sample[name]])) * 3600;
  return {
    requests,
    refused,
    seconds: samples.at(-1)?.atS ?? 0,
    anonMibPerHour: perHour("anonMib"),
    heapMibPerHour: perHour("heapMib"),
    heapBytesPerRequest: bytesPerRequest(settled),
    fileMibPerHour: perHour("fileMib"),
    p50Drift: drift(settled.map(({ p50Ms }) => p50Ms)),
    p99Drift: drift(settled.map(({ p99Ms }) => p99Ms)),
    samples,
  };
}

/** @returns one line per exceeded bound */
export function faultsOf(report: SoakReport): string[] {
  const measured: readonly (readonly [string, number, number])[] = [
    ["own memory, MiB per hour", report.anonMibPerHour, soakBounds.anonMibPerHourMax],
    ["heap, MiB per hour", report.heapMibPerHour, soakBounds.heapMibPerHourMax],
    ["heap, bytes per request", report.heapBytesPerRequest, soakBounds.heapBytesPerRequestMax],
    ["drift of the median latency", report.p50Drift, soakBounds.p50DriftMax],
    ["drift of the 99th percentile", report.p99Drift, soakBounds.p99DriftMax],
    ["requests that failed", report.refused, 0],
  ];
  return measured.filter(([, value, most]) => value > most).map(([name, value, most]) => `${name}: ${value} > ${most}`);
}
