/**
 * The rows of turns that the store does not have yet, per table. A turn's rows are visible as soon as they are written,
 * and disappear again if it fails; they are dropped when a checkpoint has them.
 */
import type { TableName } from "../../schemas/records.ts";

export interface OverlayRow {
  readonly key: unknown;
  /** null: removed. */
  readonly bytes: Uint8Array | null;
  /** The turn that wrote it last. */
  readonly turn: number;
}

/** The rows of one table, by the text of their key (store/key-encoding.ts). */
export class TableOverlay {
  readonly rows = new Map<string, OverlayRow>();
  /** In order, up to date unless `#added` has more. It may hold names whose rows were dropped. */
  #names: string[] = [];
  #added: string[] = [];

  put(name: string, row: OverlayRow): void {
    if (!this.rows.has(name)) this.#added.push(name);
    this.rows.set(name, row);
  }

  /** Names in order, from the first that is not before `start` up to the last that is before `end`. */
  between(start: string | undefined, end: string | undefined): string[] {
    this.#sort();
    const from = start === undefined ? 0 : this.#indexOf(start);
    const to = end === undefined ? this.#names.length : this.#indexOf(end);
    return from >= to ? [] : this.#names.slice(from, to).filter((name) => this.rows.has(name));
  }

  /** Most new keys are larger than all before: messages, events, timers. */
  #sort(): void {
    if (this.#added.length === 0) {
      if (this.#names.length > 2 * this.rows.size + 64) this.#names = this.#names.filter((name) => this.rows.has(name));
      return;
    }
    // A row that was undone and written again is there twice.
    const added = [...new Set(this.#added)].sort();
    this.#added = [];
    const last = this.#names.at(-1);
    if (last === undefined || last < (added[0] as string)) this.#names.push(...added);
    else this.#names = merged(this.#names, added, (name) => this.rows.has(name));
  }

  /** Index of the first name that is not before `name`. */
  #indexOf(name: string): number {
    let low = 0;
    for (let high = this.#names.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((this.#names[middle] as string) < name) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Nothing is left in the table's overlay. */
  forgetNames(): void {
    this.#names = [];
    this.#added = [];
  }
}

/** Two ordered lists as one, each name once. */
function merged(names: readonly string[], added: readonly string[], isKept: (name: string) => boolean): string[] {
  const all: string[] = [];
  const take = (name: string) => {
    if (all.at(-1) !== name && isKept(name)) all.push(name);
  };
  let next = 0;
  for (const name of names) {
    for (; next < added.length && (added[next] as string) < name; next++) take(added[next] as string);
    take(name);
  }
  for (; next < added.length; next++) take(added[next] as string);
  return all;
}

/** A row as it was before a write of the turn under way. */
interface Before {
  readonly table: TableName;
  readonly name: string;
  readonly row: OverlayRow | undefined;
}

/** A row that a turn has written, in its last state. */
export interface TurnWrite {
  readonly table: TableName;
  readonly name: string;
  readonly bytes: Uint8Array | null;
}

interface WrittenTurn {
  readonly turn: number;
  readonly writes: readonly TurnWrite[];
}

export class Overlay {
  readonly #tables = new Map<TableName, TableOverlay>();
  /** What the turn under way has changed, to undo it. */
  #undo: Before[] = [];
  /** Turns whose rows may still be here, in order. */
  #turns: WrittenTurn[] = [];
  /** The turn that is being written, or the next one. */
  #turn: number;
  #bytes = 0;

  /** @param turn the last turn that the store has */
  constructor(turn: number) {
    this.#turn = turn + 1;
  }

  /** Size of all rows, with their keys. */
  get bytes(): number {
    return this.#bytes;
  }

  get turn(): number {
    return this.#turn;
  }

  /** undefined if nothing of the table is here. */
  table(table: TableName): TableOverlay | undefined {
    const found = this.#tables.get(table);
    return found === undefined || found.rows.size === 0 ? undefined : found;
  }

  write(table: TableName, name: string, key: unknown, bytes: Uint8Array | null): void {
    let rows = this.#tables.get(table);
    if (rows === undefined) {
      rows = new TableOverlay();
      this.#tables.set(table, rows);
    }
    const before = rows.rows.get(name);
    this.#undo.push({ table, name, row: before });
    const row = { key, bytes, turn: this.#turn };
    rows.put(name, row);
    this.#bytes += sizeOf(name, row) - (before === undefined ? 0 : sizeOf(name, before));
  }

  /** A point in the turn under way that it can go back to. */
  mark(): number {
    return this.#undo.length;
  }

  /** Undoes everything since a mark. */
  rollBack(mark: number): void {
    for (const { table, name, row } of this.#undo.splice(mark).reverse()) {
      const { rows } = this.#tables.get(table) as TableOverlay;
      const written = rows.get(name) as OverlayRow;
      this.#bytes += (row === undefined ? 0 : sizeOf(name, row)) - sizeOf(name, written);
      if (row === undefined) rows.delete(name);
      else rows.set(name, row);
    }
  }

  /** What the turn under way has written, each row once in its last state. */
  writes(): TurnWrite[] {
    const writes: TurnWrite[] = [];
    for (const { table, name, row } of this.#undo) {
      // Only the first write of a row finds one of an earlier turn.
      if (row?.turn === this.#turn) continue;
      const { bytes } = (this.#tables.get(table) as TableOverlay).rows.get(name) as OverlayRow;
      writes.push({ table, name, bytes });
    }
    return writes;
  }

  /** The turn under way is over; its rows stay until `drop`. */
  endTurn(writes: readonly TurnWrite[]): void {
    this.#undo = [];
    this.#turns.push({ turn: this.#turn, writes });
    this.#turn++;
  }

  /** The store has all turns up to here. */
  drop(upTo: number): void {
    let dropped = 0;
    for (const { turn, writes } of this.#turns) {
      if (turn > upTo) break;
      dropped++;
      for (const { table, name } of writes) this.#dropRow(this.#tables.get(table) as TableOverlay, name, upTo);
    }
    this.#turns = this.#turns.slice(dropped);
    for (const table of this.#tables.values()) if (table.rows.size === 0) table.forgetNames();
  }

  #dropRow({ rows }: TableOverlay, name: string, upTo: number): void {
    const row = rows.get(name);
    // A later turn may have written it again.
    if (row === undefined || row.turn > upTo) return;
    this.#bytes -= sizeOf(name, row);
    rows.delete(name);
  }
}

/** Besides its bytes, a row costs the objects that hold it. */
const rowOverheadBytes = 128;

function sizeOf(name: string, { bytes }: OverlayRow): number {
  return name.length + (bytes?.length ?? 0) + rowOverheadBytes;
}
