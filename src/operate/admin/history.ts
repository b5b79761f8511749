/**
 * The last hour of the server's figures, for the sparklines of the operator's page. Each figure has a ring of numbers
 * in a typed array; a sample is one number for each, taken every few seconds whether anybody looks or not.
 */
import { limits } from "../../../schemas/limits.ts";

export interface Figure {
  readonly name: string;
  /** A name in docs/metrics.md: what the figure is derived from. */
  readonly metric: string;
  /**
   * The figure since the last call, or at this moment; NaN: there is none.
   * @param seconds since the last call
   */
  read(seconds: number): number;
}

export interface HistoryPart {
  /** The number of the next sample: what to ask for next. */
  readonly next: number;
  /** Wall-clock milliseconds of each sample. */
  readonly at: readonly number[];
  readonly values: Readonly<Record<string, readonly (number | null)[]>>;
}

const { live_samples_max: samplesMax } = limits;

export class History {
  readonly #figures: readonly Figure[];
  readonly #rings: readonly Float32Array[];
  readonly #at = new Float64Array(samplesMax);
  #taken = 0;

  constructor(figures: readonly Figure[]) {
    this.#figures = figures;
    this.#rings = figures.map(() => new Float32Array(samplesMax));
  }

  /**
   * @param at wall-clock milliseconds
   * @param seconds since the last sample
   */
  take(at: number, seconds: number): void {
    const place = this.#taken % samplesMax;
    this.#at[place] = at;
    this.#figures.forEach((figure, index) => {
      (this.#rings[index] as Float32Array)[place] = figure.read(seconds);
    });
    this.#taken++;
  }

  /** @param first number of the first wanted sample; older ones than the kept ones are left out */
  since(first: number): HistoryPart {
    const from = Math.max(0, this.#taken - samplesMax, Math.min(first, this.#taken));
    const places = Array.from({ length: this.#taken - from }, (_, index) => (from + index) % samplesMax);
    const values = this.#figures.map(({ name }, index) => {
      const ring = this.#rings[index] as Float32Array;
      return [name, places.map((place) => shortened(ring[place] as number))] as const;
    });
    return {
      next: this.#taken,
      at: places.map((place) => this.#at[place] as number),
      values: Object.fromEntries(values),
    };
  }
}

/** Four digits are more than a sparkline shows; JSON has no NaN. */
function shortened(value: number): number | null {
  return Number.isNaN(value) ? null : Number(value.toPrecision(4));
}
