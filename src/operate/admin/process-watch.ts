/**
 * Event-loop delay and garbage collection. Measuring the delay wakes the process a hundred times a second, so it is on
 * only while somebody reads the metrics.
 */
import { type IntervalHistogram, monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks";
import type { Sample } from "../../metrics/instruments.ts";

const resolutionMs = 10;
const nanosecondsPerSecond = 1e9;
const quantiles = [0.5, 0.99, 1] as const;

export class ProcessWatch {
  readonly #after: (milliseconds: number, callback: () => void) => () => void;
  readonly #idleMsMax: number;
  #delay: IntervalHistogram | null = null;
  #cancelEnd: () => void = () => undefined;
  #collections = 0;
  #collectionMs = 0;
  readonly #observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      this.#collections++;
      this.#collectionMs += duration;
    }
  });

  /** @param idleMsMax how long it continues after the last reading */
  constructor(after: (milliseconds: number, callback: () => void) => () => void, idleMsMax: number) {
    this.#after = after;
    this.#idleMsMax = idleMsMax;
  }

  /** Somebody reads. */
  begin(): void {
    this.#cancelEnd();
    this.#cancelEnd = this.#after(this.#idleMsMax, () => this.end());
    if (this.#delay !== null) return;
    this.#delay = monitorEventLoopDelay({ resolution: resolutionMs });
    this.#delay.enable();
    this.#observer.observe({ entryTypes: ["gc"] });
  }

  end(): void {
    this.#cancelEnd();
    this.#cancelEnd = () => undefined;
    this.#delay?.disable();
    this.#delay = null;
    this.#observer.disconnect();
  }

  /** Since the last reading. */
  takeDelays(): Sample[] {
    const delay = this.#delay;
    if (delay === null || delay.count === 0) return [];
    const samples = quantiles.map((quantile) => {
      const measured = quantile === 1 ? delay.max : delay.percentile(quantile * 100);
      const seconds = Math.max(0, measured / nanosecondsPerSecond - resolutionMs / 1000);
      return { labels: { quantile }, value: seconds };
    });
    delay.reset();
    return samples;
  }

  get collections(): number {
    return this.#collections;
  }

  get collectionSeconds(): number {
    return this.#collectionMs / 1000;
  }
}
