/**
 * The rows of turns that LMDB does not have yet, in memory. Every read consults them first: a point read is one look-up,
 * a range merges them with the rows below (overlay-tables.ts). Rows of the running turn are among them, and can be
 * taken back.
 */
import type { TableName } from "../../../schemas/records.ts";
import { compareOrdered, keyBytes_max, type OrderedKey, orderedKey, orderedKeyBytes } from "../../store/codec.ts";
import type { TableRange } from "../../store/tables.ts";
import type { RecordNumber } from "./journal.ts";

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
/**
 * Bounds the work of a range after many writes. Rows of tables that are not read by range are usually dropped before so
 * many wait, and are never put in order.
 */
export const unorderedRows_max = 4096;
/** Fewer rows than these are put in one by one: to merge them would copy their chunks for little. */
const mergedRows_min = 16;

/**
 * The rows of one table of the overlay in the order of their keys, in chunks, so that a new row in the middle moves few
 * others. Rows are put in order when a range is read, or when enough of them wait. A row that is no longer part of the
 * overlay is skipped, and removed together with others.
 */
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

  /** Number of rows that wait to be put in order. */
  get unorderedLength(): number {
    return this.#unordered.length;
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

/**
 * The most bytes that the objects of an overlay take on the heap, as test/journal/overlay-memory.test.ts measures: of a
 * row, its places in map and lists; of its bytes, the Buffer; of a key that is no number, the list and two strings,
 * without their characters; of a turn, its lists.
 */
const heapBytes = { row: 230, buffer: 110, key: 150, turn: 260 } as const;

/** The memory of several overlays together. */
export interface MemoryCount {
  bytes: number;
}

interface TableRow extends OverlayRow {
  readonly table: OverlayTable;
}

/** The rows of one table. */
class OverlayTable {
  readonly name: TableName;
  readonly rows = new Map<OrderedKey, TableRow>();
  readonly sorted = new SortedRows();
  /** Filled by `Overlay.written`. */
  written: TableRow[] = [];

  constructor(name: TableName) {
    this.name = name;
  }
}

/** A state of the running turn, to which it can be taken back. */
export interface Mark {
  readonly undone: number;
  readonly touched: number;
}

interface Undo {
  readonly row: TableRow;
  readonly bytes: Uint8Array | null;
  readonly turn: number;
}

interface TurnRows {
  readonly turn: number;
  readonly record: RecordNumber;
  readonly rows: readonly TableRow[];
  /** How many of them are dropped: a large turn is dropped in slices. */
  dropped: number;
}

export class Overlay {
  readonly #tables = new Map<TableName, OverlayTable>();
  #turn: number;
  /** The writes of the running turn: how to take them back, and each row once. */
  #undo: Undo[] = [];
  #touched: TableRow[] = [];
  /** The rows that each turn wrote, oldest first. A row that a later turn wrote again belongs to that one. */
  #turns: TurnRows[] = [];
  readonly #all: MemoryCount;
  #bytes = 0;

  /**
   * @param turn the last turn that the store below has
   * @param all counts this overlay with others
   */
  constructor(turn: number, all: MemoryCount) {
    this.#turn = turn + 1;
    this.#all = all;
  }

  /** The running turn, or the next one. */
  get turn(): number {
    return this.#turn;
  }

  /** An upper bound of the memory that it takes. */
  get bytes(): number {
    return this.#bytes;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#all.bytes += bytes;
  }

  /** It is used no more. */
  close(): void {
    this.#count(-this.#bytes);
    this.#tables.clear();
    this.#turns = [];
  }

  /** @returns null for a row that was removed, undefined if the store below has the answer */
  get(table: TableName, key: unknown): Uint8Array | null | undefined {
    const found = this.#tables.get(table);
    return found === undefined || found.rows.size === 0 ? undefined : found.rows.get(orderedKey(key))?.bytes;
  }

  /** The record of the turn that wrote or removed the row last; 0 if the store below has the answer. */
  recordAt(table: TableName, key: unknown): RecordNumber {
    const found = this.#tables.get(table);
    const row = found === undefined || found.rows.size === 0 ? undefined : found.rows.get(orderedKey(key));
    return row === undefined ? 0 : this.recordOf(row);
  }

  /** Turns have consecutive numbers. 0 for the current turn. */
  recordOf({ turn }: OverlayRow): RecordNumber {
    const [first] = this.#turns;
    return first === undefined ? 0 : (this.#turns[turn - first.turn]?.record ?? 0);
  }

  /** @throws Error when LMDB could not take the key; nothing has changed */
  write(name: TableName, key: unknown, bytes: Uint8Array | null): void {
    const table = this.#table(name);
    const ordered = orderedKey(key);
    const found = table.rows.get(ordered);
    if (found === undefined) {
      requireStorable(name, ordered);
      const row: TableRow = { table, key, ordered, bytes, turn: this.#turn };
      table.rows.set(ordered, row);
      table.sorted.add(row);
      this.#undo.push({ row, bytes: null, turn: 0 });
      this.#touched.push(row);
      this.#count(sizeOf(row));
      return;
    }
    this.#undo.push({ row: found, bytes: found.bytes, turn: found.turn });
    if (found.turn !== this.#turn) this.#touched.push(found);
    this.#set(found, bytes, this.#turn);
  }

  #table(name: TableName): OverlayTable {
    let table = this.#tables.get(name);
    if (table === undefined) {
      table = new OverlayTable(name);
      this.#tables.set(name, table);
    }
    return table;
  }

  #set(row: TableRow, bytes: Uint8Array | null, turn: number): void {
    this.#count(sizeOfBytes(bytes) - sizeOfBytes(row.bytes));
    row.bytes = bytes;
    row.turn = turn;
  }

  #remove(row: TableRow): void {
    this.#count(-sizeOf(row));
    row.turn = 0;
    // The row may stay in a list until the next tidying.
    row.bytes = null;
    row.table.rows.delete(row.ordered);
    row.table.sorted.lost();
  }

  /** The rows of a range, in its direction, without its limit. Ends before the next write. */
  *range(name: TableName, { start, end, reverse }: TableRange): Generator<OverlayRow> {
    const table = this.#tables.get(name);
    if (table === undefined || table.rows.size === 0) return;
    const from = start === undefined ? undefined : orderedKey(start);
    const until = end === undefined ? undefined : orderedKey(end);
    const direction = reverse === true ? -1 : 1;
    for (const row of reverse === true ? table.sorted.descending(from) : table.sorted.ascending(from)) {
      if (until !== undefined && compareOrdered(row.ordered, until) * direction >= 0) return;
      yield row;
    }
  }

  /** All rows of a table, in any order. */
  rows(name: TableName): Iterable<OverlayRow> {
    return this.#tables.get(name)?.rows.values() ?? [];
  }

  mark(): Mark {
    return { undone: this.#undo.length, touched: this.#touched.length };
  }

  /** Takes back what was written since the mark. */
  rollBack({ undone, touched }: Mark): void {
    while (this.#undo.length > undone) {
      const { row, bytes, turn } = this.#undo.pop() as Undo;
      if (turn === 0) this.#remove(row);
      else this.#set(row, bytes, turn);
    }
    this.#touched.length = touched;
  }

  /** The rows that the running turn wrote, each once, with its last bytes. */
  written(): readonly OverlayTable[] {
    const tables: OverlayTable[] = [];
    for (const row of this.#touched) {
      const { table } = row;
      if (tables.includes(table)) table.written.push(row);
      else {
        tables.push(table);
        table.written = [row];
      }
    }
    return tables;
  }

  /** The turn is over, with that record; its rows stay until they are dropped. */
  endTurn(record: RecordNumber): void {
    this.#turns.push({ turn: this.#turn, record, rows: this.#touched, dropped: 0 });
    this.#count(heapBytes.turn);
    this.#undo = [];
    this.#touched = [];
    this.#turn++;
  }

  /**
   * Forgets rows that the store below has: those that no turn after `turn` wrote. Called between turns.
   * @param rowsMax bounds the work; what is left stays valid, because the store has the same rows
   * @returns whether some are left
   */
  drop(turn: number, rowsMax: number): boolean {
    let left = rowsMax;
    let ended = 0;
    for (const written of this.#turns) {
      if (written.turn > turn || left <= 0) break;
      left -= dropSome(written, left, (row) => this.#remove(row));
      if (written.dropped < written.rows.length) break;
      this.#count(-heapBytes.turn);
      ended++;
    }
    this.#turns.splice(0, ended);
    for (const { rows, sorted } of this.#tables.values()) sorted.tidy(rows.size);
    return (this.#turns[0]?.turn ?? Number.POSITIVE_INFINITY) <= turn;
  }
}

/** @returns how much of the bound it took: a turn counts, too */
function dropSome(written: TurnRows, rowsMax: number, remove: (row: TableRow) => void): number {
  const from = written.dropped;
  const rows = written.rows.slice(from, from + rowsMax);
  for (const row of rows) if (row.turn === written.turn) remove(row);
  written.dropped += rows.length;
  return rows.length + 1;
}

function sizeOf({ ordered, bytes }: TableRow): number {
  return heapBytes.row + sizeOfKey(ordered) + sizeOfBytes(bytes);
}

/** A text is in memory twice: as it was given, and as it orders. */
function sizeOfKey(ordered: OrderedKey): number {
  return typeof ordered === "number" ? orderedKeyBytes(ordered) : heapBytes.key + 2 * ordered.length;
}

function sizeOfBytes(bytes: Uint8Array | null): number {
  return bytes === null ? 0 : heapBytes.buffer + bytes.length;
}

function requireStorable(table: TableName, ordered: OrderedKey): void {
  const bytes = orderedKeyBytes(ordered);
  if (bytes === 0 || bytes > keyBytes_max) throw new Error(`a key of ${table} has ${bytes} bytes`);
}
