// Collects measurements inside the window: latencies in an HdrHistogram, completions in time slots. Times are
// `performance.now()` milliseconds; completions outside the window are not counted.

import { build, type Histogram } from "hdr-histogram-js";
import { PLOT_POINTS_MAX } from "./limits.ts";

/** Percentiles of a run. A plot connects them; the report shows the median of each over the runs. */
export const PERCENTILES = [0, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 100] as const;
/** HdrHistogram range: 1 us to 2 minutes, three significant digits. */
const LATENCY_US_MAX = 120_000_000;
const SLOT_MS_MIN = 50;

export interface LatencySummary {
  readonly count: number;
  readonly meanMs: number;
  /** One value in milliseconds for each entry of PERCENTILES. */
  readonly percentilesMs: readonly number[];
}

/** A point of a plotted line: x (seconds, percentile or sockets) and y. */
export type Point = readonly [x: number, y: number];

export class Recorder {
  readonly #histogram: Histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: LATENCY_US_MAX,
    numberOfSignificantValueDigits: 3,
    useWebAssembly: false,
  });
  readonly #slotMs: number;
  readonly #slots: Uint32Array;
  #from = Number.POSITIVE_INFINITY;
  #to = Number.POSITIVE_INFINITY;
  #completed = 0;

  constructor(durationMs: number) {
    this.#slotMs = Math.max(SLOT_MS_MIN, durationMs / PLOT_POINTS_MAX);
    this.#slots = new Uint32Array(Math.ceil(durationMs / this.#slotMs) + 1);
  }

  open(now: number): void {
    this.#from = now;
  }

  close(now: number): void {
    this.#to = now;
  }

  /** Completions inside the window so far. */
  get completed(): number {
    return this.#completed;
  }

  get elapsedMs(): number {
    return this.#to - this.#from;
  }

  /** Counts one completion at `now` if the window is open. @returns whether it did */
  complete(now: number): boolean {
    if (now < this.#from || now > this.#to) return false;
    this.#completed += 1;
    const slot = Math.floor((now - this.#from) / this.#slotMs);
    if (slot < this.#slots.length) this.#slots[slot] = (this.#slots[slot] ?? 0) + 1;
    return true;
  }

  /** Records the latency from `intendedAt`, if `intendedAt` lies inside the window. */
  latency(intendedAt: number, now: number): void {
    if (intendedAt < this.#from || intendedAt > this.#to) return;
    this.#histogram.recordValue(Math.min(LATENCY_US_MAX, Math.max(1, Math.round((now - intendedAt) * 1000))));
  }

  summary(): LatencySummary {
    const histogram = this.#histogram;
    return {
      count: histogram.totalCount,
      meanMs: histogram.totalCount === 0 ? 0 : histogram.mean / 1000,
      percentilesMs: PERCENTILES.map((percentile) =>
        histogram.totalCount === 0 ? 0 : histogram.getValueAtPercentile(percentile) / 1000,
      ),
    };
  }

  /** Completions per second over the window, without the last, partial slot. */
  throughput(): Point[] {
    const whole = Math.floor(this.elapsedMs / this.#slotMs);
    return [...this.#slots.subarray(0, whole)].map((count, index) => [
      ((index + 1) * this.#slotMs) / 1000,
      (count * 1000) / this.#slotMs,
    ]);
  }
}

/**
 * The value of one of PERCENTILES; null if there are too few samples for it (p99 needs a hundred, p99.9 a thousand): a
 * "p99.9" of fifty requests would only be their maximum.
 */
export function percentileMs(summary: LatencySummary, percentile: (typeof PERCENTILES)[number]): number | null {
  const samplesNeeded = percentile === 100 ? 1 : Math.round(100 / (100 - percentile));
  if (summary.count < samplesNeeded) return null;
  return summary.percentilesMs[PERCENTILES.indexOf(percentile)] ?? null;
}
