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

  get samples(): Sample[] {
    return [...this.#places].map(([value, place]) => ({
      labels: { [this.#label]: value },
      value: this.#counts[place] as number,
    }));
  }
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
