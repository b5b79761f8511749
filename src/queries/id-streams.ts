/**
 * Streams of message ids in one direction, for walks over several indexes: `seek` returns the first id at or beyond a
 * point. Streams hold ids they have read, never a cursor; a walk that continues in a later pass of the event loop
 * creates new ones.
 */

/** 1: toward newer messages; -1: toward older ones. */
export type Step = 1 | -1;

export interface IdStream {
  /** Returns the first id at or beyond `from`, which never decreases in walking direction; null: there is none. */
  seek(from: number): number | null;
}

const blockIds_min = 8;
const blockIds_max = 256;

/**
 * An index whose keys end in a message id. It reads larger blocks while most of their ids are asked for, and smaller
 * ones when most are skipped.
 */
export class KeyStream implements IdStream {
  readonly #step: Step;
  readonly #read: (from: number, limit: number) => readonly number[];
  #ids: readonly number[] = [];
  #at = 0;
  /** Number of ids in the block that were skipped. */
  #skipped = 0;
  #size = blockIds_min;
  #isLast = false;

  /** @param read ids from a point on, in the order of `step`; fewer than `limit`: no more follow */
  constructor(step: Step, read: (from: number, limit: number) => readonly number[]) {
    this.#step = step;
    this.#read = read;
  }

  seek(from: number): number | null {
    const step = this.#step;
    for (;;) {
      const start = this.#at;
      while (this.#at < this.#ids.length) {
        const id = this.#ids[this.#at] ?? 0;
        if ((id - from) * step >= 0) {
          // The one at `start` was returned before.
          this.#skipped += Math.max(0, this.#at - start - 1);
          return id;
        }
        this.#at++;
      }
      if (this.#isLast) return null;
      this.#skipped += Math.max(0, this.#at - start - 1);
      const isMostlyWanted = this.#skipped * 2 <= this.#ids.length;
      this.#size = isMostlyWanted ? Math.min(this.#size * 2, blockIds_max) : Math.max(this.#size / 2, blockIds_min);
      this.#ids = this.#read(from, this.#size);
      this.#isLast = this.#ids.length < this.#size;
      this.#at = 0;
      this.#skipped = 0;
    }
  }
}

/** Charges a walk's budget for index entries read. */
export type Spend = (entries: number) => void;

const entriesPerBlock = 256;
const blocksPerSeek_max = 4;

/**
 * An index of which few entries are wanted, filtered without opening messages. After a long run of unwanted entries, a
 * seek returns one of them, so that a walk whose budget is spent can resume there.
 */
export class SiftedStream implements IdStream {
  readonly #step: Step;
  readonly #read: (from: number, limit: number) => readonly { readonly id: number; readonly isWanted: boolean }[];
  readonly #spend: Spend;
  /** Wanted ids found so far, in order. */
  #ids: readonly number[] = [];
  #at = 0;
  #next: number | null = null;
  #isLast = false;

  /** @param read entries from a point on, in the order of `step`; fewer than `limit`: no more follow */
  constructor(
    step: Step,
    read: (from: number, limit: number) => readonly { readonly id: number; readonly isWanted: boolean }[],
    spend: Spend,
  ) {
    this.#step = step;
    this.#read = read;
    this.#spend = spend;
  }

  seek(from: number): number | null {
    const step = this.#step;
    for (let blocks = 0; ; blocks++) {
      for (; this.#at < this.#ids.length; this.#at++) {
        const id = this.#ids[this.#at] ?? 0;
        if ((id - from) * step >= 0) return id;
      }
      if (this.#isLast) return null;
      const start = this.#next === null || (from - this.#next) * step > 0 ? from : this.#next;
      if (blocks === blocksPerSeek_max) return start;
      const entries = this.#read(start, entriesPerBlock);
      this.#spend(entries.length);
      this.#ids = entries.filter(({ isWanted }) => isWanted).map(({ id }) => id);
      this.#at = 0;
      this.#isLast = entries.length < entriesPerBlock;
      this.#next = (entries.at(-1)?.id ?? start) + step;
    }
  }
}

/** Ascending ids. A seek gallops from where the last one ended, so it compares few of the ids that it skips. */
export class SortedStream implements IdStream {
  readonly #ids: ArrayLike<number>;
  readonly #step: Step;
  /** Number of ids, in the direction of the walk, that lie before the last point. */
  #passed = 0;

  constructor(step: Step, ids: ArrayLike<number>) {
    this.#ids = ids;
    this.#step = step;
  }

  seek(from: number): number | null {
    const { length } = this.#ids;
    // Ids before `low` lie before the point, and those from `high` on do not.
    let low = this.#passed;
    let high = low;
    for (let stride = 1; high < length && this.#isBefore(high, from); stride *= 2) {
      low = high + 1;
      high += stride;
    }
    high = Math.min(high, length);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#isBefore(middle, from)) low = middle + 1;
      else high = middle;
    }
    this.#passed = low;
    return low === length ? null : this.#id(low);
  }

  #id(index: number): number {
    return this.#ids[this.#step === 1 ? index : this.#ids.length - 1 - index] as number;
  }

  #isBefore(index: number, point: number): boolean {
    return (this.#id(index) - point) * this.#step < 0;
  }
}

/** A list of known ids. */
export class ListStream implements IdStream {
  readonly #ids: readonly number[];
  readonly #step: Step;
  #at = 0;

  constructor(step: Step, ids: Iterable<number>) {
    this.#step = step;
    this.#ids = [...ids].sort((a, b) => (a - b) * step);
  }

  seek(from: number): number | null {
    for (; this.#at < this.#ids.length; this.#at++) {
      const id = this.#ids[this.#at] ?? 0;
      if ((id - from) * this.#step >= 0) return id;
    }
    return null;
  }
}

/** The part of a stream that lies within closed intervals. */
export class ClippedStream implements IdStream {
  readonly #inner: IdStream;
  readonly #step: Step;
  readonly #intervals: readonly (readonly [first: number, last: number])[];
  #at = 0;

  /** @param intervals ascending, disjoint */
  constructor(step: Step, inner: IdStream, intervals: readonly (readonly [number, number])[]) {
    this.#inner = inner;
    this.#step = step;
    this.#intervals = step === 1 ? intervals : [...intervals].reverse();
  }

  seek(from: number): number | null {
    const step = this.#step;
    let point = from;
    for (; this.#at < this.#intervals.length; this.#at++) {
      const [first, last] = this.#intervals[this.#at] ?? [0, 0];
      const [near, far] = step === 1 ? [first, last] : [last, first];
      if ((point - far) * step > 0) continue;
      if ((point - near) * step < 0) point = near;
      const id = this.#inner.seek(point);
      if (id === null) return null;
      if ((id - far) * step <= 0) return id;
      point = id;
    }
    return null;
  }
}

/** The union of several streams. */
export class UnionStream implements IdStream {
  readonly #streams: readonly IdStream[];
  readonly #step: Step;
  /** The next id of each stream; infinite: none; NaN: not read yet. */
  readonly #heads: Float64Array;

  constructor(step: Step, streams: readonly IdStream[]) {
    this.#streams = streams;
    this.#step = step;
    this.#heads = new Float64Array(streams.length).fill(Number.NaN);
  }

  seek(from: number): number | null {
    const step = this.#step;
    const far = step * Number.POSITIVE_INFINITY;
    let next = far;
    for (let index = 0; index < this.#heads.length; index++) {
      let head = this.#heads[index] ?? far;
      if (!((head - from) * step >= 0)) {
        head = this.#streams[index]?.seek(from) ?? far;
        this.#heads[index] = head;
      }
      if ((next - head) * step > 0) next = head;
    }
    return Number.isFinite(next) ? next : null;
  }
}

/** Combines streams into one; a single stream is returned as is. */
export function unionOf(step: Step, streams: readonly IdStream[]): IdStream {
  const [only] = streams;
  return only !== undefined && streams.length === 1 ? only : new UnionStream(step, streams);
}
