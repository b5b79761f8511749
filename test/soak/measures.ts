/** What a soak measured, and what is made of it: lines through the memory, and how latency moved from the first to the last third. */
import type { Memory } from "./memory.ts";

export interface Sample extends Memory {
  readonly atS: number;
  /** Sent since the samples began. */
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface SoakReport {
  readonly requests: number;
  readonly refused: number;
  readonly seconds: number;
  /** Each of a line of least squares. The first two are judged: what the process keeps for itself. */
  readonly anonMibPerHour: number;
  readonly heapMibPerHour: number;
  /** Of the heap: what a request leaves behind, however many come in an hour, where all together leave more than `heapStepsMib`. */
  readonly heapBytesPerRequest: number;
  /** The store grows, and its pages with it: told, not judged. */
  readonly fileMibPerHour: number;
  /** Median of the last third of the samples over that of the first. */
  readonly p50Drift: number;
  readonly p99Drift: number;
  readonly samples: readonly Sample[];
}

/** What a soak may come to: above it, something grows or gets slower. */
export const soakBounds = {
  anonMibPerHourMax: 120,
  heapMibPerHourMax: 120,
  /** Beside `heapStepsMib`. Stricter than the line by the hour where less than 2,000 requests come in a second. */
  heapBytesPerRequestMax: 16,
  /** Once: a step of about 1 MiB was seen; by its shape a hash table that doubles, or code that is compiled. */
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
  // The first part of a life is filling: caches, tables, compiled code.
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

/** @returns what is over its bound, a line each */
export function faultsOf(report: SoakReport): string[] {
  const measured: readonly (readonly [string, number, number])[] = [
    ["memory of its own, MiB an hour", report.anonMibPerHour, soakBounds.anonMibPerHourMax],
    ["heap, MiB an hour", report.heapMibPerHour, soakBounds.heapMibPerHourMax],
    ["heap, bytes a request", report.heapBytesPerRequest, soakBounds.heapBytesPerRequestMax],
    ["drift of the median latency", report.p50Drift, soakBounds.p50DriftMax],
    ["drift of the 99th percentile", report.p99Drift, soakBounds.p99DriftMax],
    ["requests that failed", report.refused, 0],
  ];
  return measured.filter(([, value, most]) => value > most).map(([name, value, most]) => `${name}: ${value} > ${most}`);
}
