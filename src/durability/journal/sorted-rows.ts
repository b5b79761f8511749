/**
 * The rows of one table of the overlay in the order of their keys, in chunks, so that a new row in the middle moves few
 * others. Rows are put in order when a range is read, or when enough of them wait. A row that is no longer part of the
 * overlay is skipped, and removed together with others.
 */
import { compareOrdered, type OrderedKey } from "../../store/key-encoding.ts";

export interface OverlayRow {
  readonly key: unknown;
  readonly ordered: OrderedKey;
  /** null: the row is removed. */
  bytes: Uint8Array | null;
  /** The turn that wrote the row last; 0: the row is no longer part of the overlay. */
  turn: number;
}

interface Place {
  readonly chunk: number;
  readonly index: number;
}

const chunkRows_max = 256;
/** Bounds the work of a range after many writes; most new rows have the highest key, and cost a comparison. */
const unorderedRows_max = 256;
/** Fewer rows than these are put in one by one: to merge them would copy their chunks for little. */
const mergedRows_min = 16;

export class SortedRows {
  /** No chunk is empty. */
  #chunks: OverlayRow[][] = [];
  #unordered: OverlayRow[] = [];
  #gone = 0;

  /** @param row new: its key is not in this list, except in rows that are gone */
  add(row: OverlayRow): void {
    this.#unordered.push(row);
    if (this.#unordered.length >= unorderedRows_max) this.#putInOrder();
  }

  /** A row is no longer part of the overlay. */
  lost(): void {
    this.#gone++;
  }

  /**
   * Removes the rows that are gone if they are the larger part: a row costs the same however many there are.
   * @param rowsLeft number of rows that are not gone
   */
  tidy(rowsLeft: number): void {
    if (this.#gone <= Math.max(rowsLeft, chunkRows_max)) return;
    this.#gone = 0;
    this.#unordered = this.#unordered.filter(isThere);
    const ordered = rowsLeft === this.#unordered.length ? [] : this.#chunks;
    this.#chunks = ordered.map((chunk) => chunk.filter(isThere)).filter(({ length }) => length > 0);
  }

  *ascending(start: OrderedKey | undefined): Generator<OverlayRow> {
    this.#putInOrder();
    let { chunk, index } = start === undefined ? { chunk: 0, index: 0 } : this.#first(start, false);
    for (; chunk < this.#chunks.length; chunk++, index = 0) {
      const rows = this.#chunks[chunk] as OverlayRow[];
      for (; index < rows.length; index++) {
        const row = rows[index] as OverlayRow;
        if (isThere(row)) yield row;
      }
    }
  }

  *descending(start: OrderedKey | undefined): Generator<OverlayRow> {
    this.#putInOrder();
    let { chunk, index } = start === undefined ? this.#end : this.#first(start, true);
    while (chunk > 0 || index > 0) {
      if (index === 0) index = (this.#chunks[--chunk] as OverlayRow[]).length;
      const row = this.#chunks[chunk]?.[--index] as OverlayRow;
      if (isThere(row)) yield row;
    }
  }

  get #end(): Place {
    return { chunk: this.#chunks.length, index: 0 };
  }

  /** The first row at the key or after it; without those at the key if `isAfter`. */
  #first(key: OrderedKey, isAfter: boolean): Place {
    const isBefore = ({ ordered }: OverlayRow) => {
      const order = compareOrdered(ordered, key);
      return order < 0 || (isAfter && order === 0);
    };
    const chunk = countWhile(this.#chunks, (rows) => isBefore(rows[rows.length - 1] as OverlayRow));
    return { chunk, index: countWhile(this.#chunks[chunk] ?? [], isBefore) };
  }

  #putInOrder(): void {
    if (this.#unordered.length === 0) return;
    const rows = this.#unordered.filter(isThere);
    this.#gone -= this.#unordered.length - rows.length;
    this.#unordered = [];
    if (rows.length < mergedRows_min) for (const row of rows) this.#insert(row);
    else this.#merge(rows.sort((one, other) => compareOrdered(one.ordered, other.ordered)));
  }

  /** @param rows in order */
  #merge(rows: readonly OverlayRow[]): void {
    let at = 0;
    for (let chunk = this.#first((rows[0] as OverlayRow).ordered, false).chunk; at < rows.length; chunk++) {
      const present = this.#chunks[chunk] ?? [];
      const last = present.at(-1);
      // Behind the last chunk there is room for all that is left.
      const end = last === undefined ? rows.length : at + countWhile(rows.slice(at), isBefore(last.ordered));
      if (end === at) continue;
      const chunks = inChunks(mergedRows(present, rows.slice(at, end)));
      this.#chunks.splice(chunk, 1, ...chunks);
      chunk += chunks.length - 1;
      at = end;
    }
  }

  #insert(row: OverlayRow): void {
    const last = this.#chunks.at(-1);
    if (last === undefined || compareOrdered((last.at(-1) as OverlayRow).ordered, row.ordered) < 0) {
      if (last === undefined || last.length >= chunkRows_max) this.#chunks.push([row]);
      else last.push(row);
      return;
    }
    const { chunk, index } = this.#first(row.ordered, false);
    const rows = this.#chunks[chunk] as OverlayRow[];
    rows.splice(index, 0, row);
    if (rows.length > chunkRows_max) this.#chunks.splice(chunk + 1, 0, rows.splice(chunkRows_max / 2));
  }
}

function isBefore(key: OrderedKey): (row: OverlayRow) => boolean {
  return ({ ordered }) => compareOrdered(ordered, key) < 0;
}

/** Two lists in order as one. */
function mergedRows(one: readonly OverlayRow[], other: readonly OverlayRow[]): OverlayRow[] {
  if (one.length === 0) return [...other];
  const all: OverlayRow[] = [];
  let at = 0;
  for (const row of one) {
    while (at < other.length && compareOrdered((other[at] as OverlayRow).ordered, row.ordered) < 0) {
      all.push(other[at++] as OverlayRow);
    }
    all.push(row);
  }
  for (; at < other.length; at++) all.push(other[at] as OverlayRow);
  return all;
}

function inChunks(rows: readonly OverlayRow[]): OverlayRow[][] {
  const chunks: OverlayRow[][] = [];
  for (let at = 0; at < rows.length; at += chunkRows_max) chunks.push(rows.slice(at, at + chunkRows_max));
  return chunks;
}

function isThere({ turn }: OverlayRow): boolean {
  return turn !== 0;
}

/** The number of items at the start of a sorted list that fulfil a condition, which no later item does. */
function countWhile<T>(list: readonly T[], isCounted: (item: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isCounted(list[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}
