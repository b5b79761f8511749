/**
 * A realm's tables with the journal: the store, below the rows of turns that it does not have yet. The outermost
 * transaction is a turn: it becomes one record of the journal. A read by key is one look-up more; a range merges two
 * ordered sequences.
 */
import { limits } from "../../../schemas/limits.ts";
import type { TableName } from "../../../schemas/records.ts";
import { compareKeys } from "../../store/codec.ts";
import type { StoreTables, TableEntry, TableRange } from "../../store/tables.ts";
import type { ReadTracker } from "./durability-gate.ts";
import type { RecordNumber } from "./journal.ts";
import { type MemoryCount, Overlay, type OverlayRow } from "./overlay.ts";
import { RecordEncoder } from "./record.ts";

export interface OverlayTablesOptions {
  readonly tables: StoreTables;
  /** The last turn that the store has. */
  readonly turn: number;
  readonly now: () => number;
  /** Counts the memory of all overlays of the process. */
  readonly memory: MemoryCount;
  /** How many rows are dropped at a time. */
  readonly dropRows?: number;
  /** Told of each row that is read (M9). */
  readonly reads: ReadTracker;
  /**
   * A turn was written. The bytes are valid until it returns; if it throws, the turn is rolled back.
   * @returns the number of its record
   */
  readonly append: (
    record: Uint8Array,
    written: { readonly turn: number; readonly tables: ReadonlySet<TableName> },
  ) => RecordNumber;
}

/** One for all realms: a record is handed on before the next one is encoded. */
const encoder = new RecordEncoder();

export class OverlayTables implements StoreTables {
  readonly #options: OverlayTablesOptions;
  readonly #store: StoreTables;
  readonly #overlay: Overlay;
  #isWriting = false;
  /** The store has the turns up to here. */
  #stored: number;

  constructor(options: OverlayTablesOptions) {
    this.#options = options;
    this.#store = options.tables;
    this.#stored = options.turn;
    this.#overlay = new Overlay(options.turn, options.memory);
  }

  get file(): string {
    return this.#store.file;
  }

  get isWriting(): boolean {
    return this.#isWriting;
  }

  /** Memory of the rows that the store does not have yet. */
  get overlayBytes(): number {
    return this.#overlay.bytes;
  }

  /** The store has all turns up to here. Must not be called during a turn. @returns as `dropStored` */
  checkpointed(turn: number): boolean {
    this.#store.refresh();
    this.#stored = turn;
    return this.dropStored();
  }

  /**
   * Drops a slice of the rows that the store has. Must not be called during a turn.
   * @returns whether there are more
   */
  dropStored(): boolean {
    return this.#overlay.drop(this.#stored, this.#options.dropRows ?? limits.overlay_drop_rows);
  }

  get(table: TableName, key: unknown): Uint8Array | undefined {
    this.noteRead(table, key);
    const bytes = this.#overlay.get(table, key);
    return bytes === undefined ? this.#store.get(table, key) : (bytes ?? undefined);
  }

  noteRead(table: TableName, key: unknown): void {
    const { reads } = this.#options;
    if (reads.isWatched) reads.noteRecord(this.#overlay.recordAt(table, key));
  }

  readonly #noteRow = (row: OverlayRow): void => {
    const { reads } = this.#options;
    if (reads.isWatched) reads.noteRecord(this.#overlay.recordOf(row));
  };

  range(table: TableName, range: TableRange): Iterable<TableEntry> {
    const rows = this.#rowsIn(table, range);
    if (rows === null) return this.#store.range(table, range);
    const stored = this.#store.range(table, { ...range, limit: Number.POSITIVE_INFINITY });
    return merged(rows, stored, range, { keyOf: ({ key }) => key, made: entryOf, note: this.#noteRow });
  }

  keys(table: TableName, range: TableRange): Iterable<unknown> {
    const rows = this.#rowsIn(table, range);
    if (rows === null) return this.#store.keys(table, range);
    const stored = this.#store.keys(table, { ...range, limit: Number.POSITIVE_INFINITY });
    return merged(rows, stored, range, { keyOf: (key) => key, made: ({ key }) => key, note: this.#noteRow });
  }

  /** Null if the range has no row of the overlay, as most have. */
  #rowsIn(table: TableName, range: TableRange): Started | null {
    const rest = this.#overlay.range(table, range);
    const { value, done } = rest.next();
    return done === true ? null : { first: value, rest };
  }

  /** Reads the store for each row of the overlay: too slow for a turn. */
  count(table: TableName): number {
    this.#options.reads.noteRead(table);
    let count = this.#store.count(table);
    for (const { key, bytes } of this.#overlay.rows(table)) {
      const isStored = this.#store.get(table, key) !== undefined;
      if (isStored && bytes === null) count--;
      else if (!isStored && bytes !== null) count++;
    }
    return count;
  }

  write(table: TableName, key: unknown, bytes: Uint8Array | null): void {
    if (!this.#isWriting) throw new Error(`a write to ${table} outside a transaction`);
    this.#overlay.write(table, key, bytes);
  }

  transaction<R>(work: () => R): R {
    const isOutermost = !this.#isWriting;
    const mark = this.#overlay.mark();
    this.#isWriting = true;
    try {
      const result = work();
      if (isOutermost) this.#endTurn();
      return result;
    } catch (error) {
      this.#overlay.rollBack(mark);
      throw error;
    } finally {
      if (isOutermost) this.#isWriting = false;
    }
  }

  #endTurn(): void {
    const written = this.#overlay.written();
    if (written.length === 0) return;
    const { turn } = this.#overlay;
    const tables = new Set(written.map(({ name }) => name));
    const record = this.#options.append(encoder.encode(turn, this.#options.now(), written), { turn, tables });
    this.#overlay.endTurn(record);
  }

  refresh(): void {
    this.#store.refresh();
  }

  clearDeadReaders(): void {
    this.#store.clearDeadReaders();
  }

  /** The store alone: what the overlay has is not in it. */
  backup(folder: string): Promise<void> {
    return this.#store.backup(folder);
  }

  close(): Promise<void> {
    this.#overlay.close();
    return this.#store.close();
  }
}

/** A sequence of rows that has at least one. */
interface Started {
  readonly first: OverlayRow;
  readonly rest: Iterator<OverlayRow>;
}

/** The kind of items that a range returns: entries or keys. */
interface Kind<T> {
  readonly keyOf: (item: T) => unknown;
  readonly made: (row: OverlayRow) => T;
  /** Called for each row of the overlay that the result shows, or lacks because it was removed. */
  readonly note: (row: OverlayRow) => void;
}

function entryOf({ key, bytes }: OverlayRow): TableEntry {
  return { key, value: bytes as Uint8Array };
}

/** Merges two ordered sequences; where both have a key, the overlay's row counts. */
function* merged<T>(rows: Started, stored: Iterable<T>, range: TableRange, kind: Kind<T>): Generator<T> {
  let left = range.limit ?? Number.POSITIVE_INFINITY;
  if (left <= 0) return;
  let row: OverlayRow | undefined = rows.first;
  const items = stored[Symbol.iterator]();
  try {
    let item = items.next();
    while (row !== undefined || item.done !== true) {
      const order = orderOf(row, item, kind, range.reverse === true);
      if (order >= 0) kind.note(row as OverlayRow);
      const isLeft = order < 0 || row?.bytes !== null;
      if (isLeft) yield order < 0 ? (item.value as T) : kind.made(row as OverlayRow);
      if (isLeft && --left <= 0) return;
      if (order <= 0) item = items.next();
      if (order >= 0) row = rows.rest.next().value as OverlayRow | undefined;
    }
  } finally {
    // Frees LMDB's cursor (pitfalls 1.4).
    items.return?.();
  }
}

/** Negative if the store's item is next, positive if the overlay's row is, 0 if they have the same key. */
function orderOf<T>(row: OverlayRow | undefined, item: IteratorResult<T>, kind: Kind<T>, isReverse: boolean): number {
  if (row === undefined) return -1;
  if (item.done === true) return 1;
  const order = compareKeys(kind.keyOf(item.value), row.key);
  return isReverse ? -order : order;
}
