/**
 * The rows of turns that LMDB does not have yet, in memory. Every read consults them first: a point read is one look-up,
 * a range merges them with the rows below (overlay-tables.ts). Rows of the running turn are among them, and can be
 * taken back.
 */
import type { TableName } from "../../../schemas/records.ts";
import {
  compareOrdered,
  keyBytes_max,
  type OrderedKey,
  orderedKey,
  orderedKeyBytes,
} from "../../store/key-encoding.ts";
import type { TableRange } from "../../store/tables.ts";
import { type OverlayRow, SortedRows } from "./sorted-rows.ts";

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

  /** The turn is over; its rows stay until they are dropped. */
  endTurn(): void {
    this.#turns.push({ turn: this.#turn, rows: this.#touched, dropped: 0 });
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
