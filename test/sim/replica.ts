/** The auditor's own copy of every table, as plain maps: what the server wrote and the disk has. */
import type { RowOf, TableName } from "../../schemas/records.ts";
import { rowFields } from "../../schemas/records.ts";
import { decodeRow, encodeRow } from "../../src/store/codec.ts";
import type { Lmdb } from "../../src/store/lmdb.ts";
import { turnKey } from "../../src/store/turn-number.ts";

export interface Write {
  readonly table: TableName;
  readonly key: unknown;
  /** null: removed. */
  readonly bytes: Uint8Array | null;
}

interface Entry {
  readonly key: unknown;
  readonly bytes: Uint8Array;
  row: unknown;
}

const tableNames = Object.keys(rowFields) as TableName[];

export class Replica {
  readonly #tables = new Map<TableName, Map<string, Entry>>(tableNames.map((name) => [name, new Map()]));

  static of(disk: Lmdb): Replica {
    const replica = new Replica();
    for (const table of tableNames) {
      disk.each(table, (row, key) => {
        if (table !== "meta" || key !== turnKey) replica.apply({ table, key, bytes: encodeRow(table, key, row) });
      });
    }
    return replica;
  }

  #table(table: TableName): Map<string, Entry> {
    return this.#tables.get(table) as Map<string, Entry>;
  }

  apply({ table, key, bytes }: Write): void {
    const entries = this.#table(table);
    if (bytes === null) entries.delete(nameOf(key));
    else entries.set(nameOf(key), { key, bytes, row: undefined });
  }

  get<T extends TableName>(table: T, key: unknown): RowOf<T> | undefined {
    const entry = this.#table(table).get(nameOf(key));
    return entry === undefined ? undefined : decoded(table, entry);
  }

  has(table: TableName, key: unknown): boolean {
    return this.#table(table).has(nameOf(key));
  }

  count(table: TableName): number {
    return this.#table(table).size;
  }

  /** In the order of their first write. */
  keys(table: TableName): unknown[] {
    return [...this.#table(table).values()].map(({ key }) => key);
  }

  rows<T extends TableName>(table: T): RowOf<T>[] {
    return [...this.#table(table).values()].map((entry) => decoded(table, entry));
  }

  /** All rows, except values that are drawn when a folder is first opened. */
  text(): string {
    return tableNames
      .filter((table) => table !== "meta")
      .map((table) => `${table} ${JSON.stringify(this.keys(table))} ${JSON.stringify(this.rows(table))}`)
      .join("\n");
  }

  /** @returns the first difference from the disk, or null */
  differenceFrom(disk: Lmdb): string | null {
    for (const table of tableNames) {
      const entries = this.#table(table);
      let found: string | null = null;
      let count = 0;
      disk.each(table, (row, key) => {
        // The store's own: how far it is.
        if (table === "meta" && key === turnKey) return;
        count++;
        const entry = entries.get(nameOf(key));
        if (found !== null || (entry !== undefined && isSame(table, entry, row))) return;
        found =
          entry === undefined ? "is only on disk" : `is ${json(row)} on disk instead of ${json(decoded(table, entry))}`;
        found = `${table} ${nameOf(key)} ${found}`;
      });
      if (found !== null) return found;
      if (count === entries.size) continue;
      for (const { key } of entries.values()) {
        if (!disk.has(table, key as never))
          return `${table} ${nameOf(key)} is not on disk: ${json(this.get(table, key))}`;
      }
    }
    return null;
  }
}

function isSame<T extends TableName>(table: T, entry: Entry, row: RowOf<T>): boolean {
  return (
    Buffer.compare(encodeRow(table, entry.key, row), entry.bytes) === 0 || json(row) === json(decoded(table, entry))
  );
}

function decoded<T extends TableName>(table: T, entry: Entry): RowOf<T> {
  entry.row ??= decodeRow(table, entry.key, entry.bytes);
  return entry.row as RowOf<T>;
}

function nameOf(key: unknown): string {
  return typeof key === "string" ? key : JSON.stringify(key);
}

function json(value: unknown): string {
  return JSON.stringify(value).slice(0, 400);
}
