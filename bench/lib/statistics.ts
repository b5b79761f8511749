// Medians and spreads. A reported number is never that of a single run: it is the median of several, with the smallest
// and the largest, so that readers see whether two results differ.

/** Median, smallest and largest of several runs, and the runs themselves in order. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly runs: readonly number[];
}

/** The middle value; for an even number of values the mean of the two in the middle. Throws on an empty list. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (upper === undefined || lower === undefined) throw new RangeError("the median of no values");
  return (upper + lower) / 2;
}

/** Spread of the finite values among `values`; null if there is none. */
export function spreadOf(values: readonly (number | null)[]): Spread | null {
  const runs = values.filter((value): value is number => value !== null && Number.isFinite(value));
  if (runs.length === 0) return null;
  return { median: medianOf(runs), min: Math.min(...runs), max: Math.max(...runs), runs };
}

/**
 * This server's number divided by the baseline's. The median is the ratio of the two medians. The spread divides run i
 * by run i, because the two ran next to each other under the same conditions. Null if a number is missing or negative
 * (memory may shrink between two readings).
 */
export function ratioOf(ours: Spread | null, baseline: Spread | null): Spread | null {
  if (ours === null || baseline === null || ours.median < 0 || baseline.median <= 0) return null;
  const pairs = ours.runs.map((value, index) => value / (baseline.runs[index] ?? Number.NaN)).filter(Number.isFinite);
  const median = ours.median / baseline.median;
  return { median, min: Math.min(median, ...pairs), max: Math.max(median, ...pairs), runs: pairs };
}

/** A small seeded generator (mulberry32): the same seed gives the same bytes on the wire in every run. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
