/**
 * A realm's tables with the journal: the store, below the rows of turns that it does not have yet. The outermost
 * transaction is a turn: it becomes one record of the journal. A read by key is one look-up more; a range merges two
 * ordered sequences.
 */
import { storedName, type TableName } from "../../schemas/records.ts";
import { nameOfKey } from "../store/key-encoding.ts";
import type { TableEntry, TableRange, Tables } from "../store/tables.ts";
import { Overlay, type TableOverlay } from "./overlay.ts";
import type { Reads } from "./reads.ts";
import { encodeRecord } from "./record.ts";

export interface OverlayTablesOptions {
  readonly tables: Tables;
  /** The last turn that the store has. */
  readonly turn: number;
  readonly now: () => number;
  /** Told of each table that is read (M9). */
  readonly reads: Reads;
  /** A turn was written. The bytes are valid until it returns. */
  readonly append: (
    record: Uint8Array,
    written: { readonly turn: number; readonly tables: ReadonlySet<TableName> },
  ) => void;
}

export class OverlayTables implements Tables {
  readonly #options: OverlayTablesOptions;
  readonly #store: Tables;
  readonly #overlay: Overlay;
  #isWriting = false;

  constructor(options: OverlayTablesOptions) {
    this.#options = options;
    this.#store = options.tables;
    this.#overlay = new Overlay(options.turn);
  }

  get file(): string {
    return this.#store.file;
  }

  get isWriting(): boolean {
    return this.#isWriting;
  }

  /** Size of the rows that the store does not have yet. */
  get overlayBytes(): number {
    return this.#overlay.bytes;
  }

  /** The store has all turns up to here. */
  checkpointed(turn: number): void {
    this.#store.refresh();
    this.#overlay.drop(turn);
  }

  get(table: TableName, key: unknown): Uint8Array | undefined {
    this.#options.reads.saw(table);
    const row = this.#overlay.table(table)?.rows.get(nameOfKey(key));
    return row === undefined ? this.#store.get(table, key) : (row.bytes ?? undefined);
  }

  range(table: TableName, range: TableRange): Iterable<TableEntry> {
    this.#options.reads.saw(table);
    const overlay = this.#overlay.table(table);
    const names = overlay === undefined ? [] : namesIn(overlay, range);
    return overlay === undefined || names.length === 0
      ? this.#store.range(table, range)
      : this.#merged(table, range, overlay, names);
  }

  /** @param names of the rows of the overlay that are in the range, in ascending order */
  *#merged(
    table: TableName,
    { limit = Number.POSITIVE_INFINITY, ...range }: TableRange,
    overlay: TableOverlay,
    names: readonly string[],
  ): Generator<TableEntry> {
    const isReverse = range.reverse === true;
    const ordered = isReverse ? names.toReversed() : names;
    let next = 0;
    let left = limit;
    for (const stored of this.#store.range(table, range)) {
      const name = nameOfKey(stored.key);
      for (; next < ordered.length && isBefore(ordered[next] as string, name, isReverse); next++) {
        if (left <= 0) return;
        const entry = entryOf(overlay, ordered[next] as string);
        if (entry === null) continue;
        yield entry;
        left--;
      }
      if (left <= 0) return;
      // The overlay has it in a later state, and comes next.
      if (ordered[next] === name) continue;
      yield stored;
      left--;
    }
    for (; next < ordered.length && left > 0; next++) {
      const entry = entryOf(overlay, ordered[next] as string);
      if (entry === null) continue;
      yield entry;
      left--;
    }
  }

  *keys(table: TableName, range: TableRange): Iterable<unknown> {
    this.#options.reads.saw(table);
    const overlay = this.#overlay.table(table);
    if (overlay === undefined || namesIn(overlay, range).length === 0) yield* this.#store.keys(table, range);
    else for (const { key } of this.range(table, range)) yield key;
  }

  count(table: TableName): number {
    this.#options.reads.saw(table);
    let count = this.#store.count(table);
    for (const { key, bytes } of this.#overlay.table(table)?.rows.values() ?? []) {
      const isStored = this.#store.get(table, key) !== undefined;
      if (isStored && bytes === null) count--;
      else if (!isStored && bytes !== null) count++;
    }
    return count;
  }

  write(table: TableName, key: unknown, bytes: Uint8Array | null): void {
    this.#overlay.write(table, nameOfKey(key), key, bytes);
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
    const writes = this.#overlay.writes();
    if (writes.length === 0) return;
    const { turn } = this.#overlay;
    const tables = new Set(writes.map(({ table }) => table));
    const recorded = writes.map(({ table, name, bytes }) => ({ table: storedName(table), key: name, bytes }));
    this.#options.append(encodeRecord(turn, this.#options.now(), recorded), { turn, tables });
    this.#overlay.endTurn(writes);
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
    return this.#store.close();
  }
}

/** In ascending order. A range that goes down starts at its end. */
function namesIn(overlay: TableOverlay, { start, end, reverse }: TableRange): string[] {
  const name = (key: unknown) => (key === undefined ? undefined : nameOfKey(key));
  if (reverse !== true) return overlay.between(name(start), name(end));
  // From `start`, which is included, down to `end`, which is not.
  const [first, last] = [name(end), name(start)];
  const names = overlay.between(first, last === undefined ? undefined : `${last}\u0000`);
  return names[0] === first ? names.slice(1) : names;
}

function isBefore(name: string, other: string, isReverse: boolean): boolean {
  return isReverse ? name > other : name < other;
}

function entryOf(overlay: TableOverlay, name: string): TableEntry | null {
  const row = overlay.rows.get(name);
  return row === undefined || row.bytes === null ? null : { key: row.key, value: row.bytes };
}
