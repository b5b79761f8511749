/**
 * Counters and histograms for the operator. Counting is one addition in a typed array, because it happens in every
 * request and every turn; names and labels meet the numbers only when somebody reads them.
 */

/** A number as Prometheus reads it. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** A histogram has several kinds of numbers under one name. */
  readonly suffix?: "_bucket" | "_sum" | "_count";
}

/** A number without labels. */
export function one(value: number): Sample[] {
  return [{ labels: {}, value }];
}

/** Samples of one label. */
export function by(label: string, values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }));
}

/**
 * Asks the system for a figure of the process.
 * @returns `otherwise` where the system refuses: reading the memory of the process, for example, takes a descriptor
 */
export function askSystem<T>(ask: () => T, otherwise: T): T {
  try {
    return ask();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return otherwise;
  }
}

/** Counts by the values of one label. */
export class Counter<T extends string> {
  readonly #label: string;
  readonly #places: ReadonlyMap<T, number>;
  readonly #counts: Float64Array;

  constructor(label: string, values: readonly T[]) {
    this.#label = label;
    this.#places = new Map(values.map((value, place) => [value, place]));
    this.#counts = new Float64Array(values.length);
  }

  add(value: T, by = 1): void {
    const place = this.#places.get(value);
    if (place !== undefined) this.#counts[place] = (this.#counts[place] as number) + by;
  }

  /** How often this value was counted. */
  of(value: T): number {
    const place = this.#places.get(value);
    return place === undefined ? 0 : (this.#counts[place] as number);
  }

  /** Over all values. */
  get total(): number {
    return sumOf(this.#counts);
  }

  get samples(): Sample[] {
    return [...this.#places].map(([value, place]) => ({
      labels: { [this.#label]: value },
      value: this.#counts[place] as number,
    }));
  }
}

function sumOf(counts: Float64Array): number {
  let sum = 0;
  for (let place = 0; place < counts.length; place++) sum += counts[place] as number;
  return sum;
}

/** The statuses that answers have; any other one is counted as "other". */
const statuses = [
  200, 204, 206, 302, 304, 400, 401, 403, 404, 405, 409, 413, 416, 429, 500, 503,
] as const satisfies readonly number[];
const statusNames = [...statuses.map(String), "other"];
const columns = statusNames.length;
const columnOf = new Uint8Array(600).fill(statuses.length);
statuses.forEach((status, column) => {
  columnOf[status] = column;
});

/** Counts the answers of each operation by HTTP status. An operation is named by its place in the list. */
export class RequestCounter {
  readonly #operations: readonly string[];
  readonly #counts: Float64Array;

  constructor(operationIds: readonly string[]) {
    this.#operations = operationIds;
    this.#counts = new Float64Array(operationIds.length * columns);
  }

  count(operation: number, status: number): void {
    const place = operation * columns + (columnOf[status] ?? statuses.length);
    this.#counts[place] = (this.#counts[place] as number) + 1;
  }

  get total(): number {
    return sumOf(this.#counts);
  }

  /** Answers with this status, of all operations or of one. */
  of(status: (typeof statuses)[number], operation?: string): number {
    const column = columnOf[status] as number;
    if (operation !== undefined) {
      const row = this.#operations.indexOf(operation);
      return row < 0 ? 0 : (this.#counts[row * columns + column] as number);
    }
    let sum = 0;
    for (let place = column; place < this.#counts.length; place += columns) sum += this.#counts[place] as number;
    return sum;
  }

  /** Without the pairs that did not occur. */
  get samples(): Sample[] {
    const all = this.#operations.flatMap((operation, row) =>
      statusNames.map((status, column) => ({
        labels: { operation, status },
        value: this.#counts[row * columns + column] as number,
      })),
    );
    return all.filter(({ value }) => value > 0);
  }
}

/** Upper bounds in seconds, from a turn that only reads to a disk that hangs. */
const boundsS = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10] as const;

/** A distribution of durations. */
export class Histogram {
  /** By bucket; the last one has what is longer than every bound. */
  readonly #counts = new Float64Array(boundsS.length + 1);
  #sumS = 0;

  observe(milliseconds: number): void {
    const seconds = milliseconds / 1000;
    this.#sumS += seconds;
    let bucket = 0;
    while (bucket < boundsS.length && seconds > (boundsS[bucket] as number)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
  }

  /** How many durations each bucket has had until now. */
  snapshot(): Float64Array {
    return this.#counts.slice();
  }

  /**
   * @param before an earlier snapshot
   * @returns in seconds, for the durations since then, each taken to be spread evenly over its bucket; NaN if there were none
   */
  quantileSince(before: Float64Array, quantile: number): number {
    const since = this.#counts.map((count, bucket) => count - (before[bucket] as number));
    let left = sumOf(since) * quantile;
    if (left === 0) return Number.NaN;
    for (let bucket = 0; bucket < boundsS.length; bucket++) {
      const count = since[bucket] as number;
      const low = bucket === 0 ? 0 : (boundsS[bucket - 1] as number);
      if (left <= count) return low + ((boundsS[bucket] as number) - low) * (left / count);
      left -= count;
    }
    return boundsS[boundsS.length - 1] as number;
  }

  get samples(): Sample[] {
    const samples: Sample[] = [];
    let count = 0;
    for (let bucket = 0; bucket <= boundsS.length; bucket++) {
      count += this.#counts[bucket] as number;
      samples.push({ labels: { le: boundsS[bucket] ?? "+Inf" }, value: count, suffix: "_bucket" });
    }
    return [
      ...samples,
      { labels: {}, value: this.#sumS, suffix: "_sum" },
      { labels: {}, value: count, suffix: "_count" },
    ];
  }
}
