/**
 * The typed store of a realm, over tables of bytes. Writes happen only in `transaction`. A row is prepared before it is
 * written, so a faulty row throws before anything has changed (M6).
 */
import type { KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import { decodeRowOf, encodeRow, isReadable, keyBytes_max } from "./codec.ts";
import type { CheckDepth } from "./lmdb-check.ts";
import { LmdbTables } from "./lmdb-tables.ts";
import { refuseUnknownTables } from "./migrations.ts";
import type { Lmdb, PreparedWrite } from "./store.ts";
import type { StoreTables, TableEntry } from "./tables.ts";
import { UnreadableRows } from "./unreadable-keys.ts";

export type { Lmdb, PreparedWrite, RowRange } from "./store.ts";

/** Upper bound for an encoded number, with its type and the separator of list parts. */
const numberBytes = 10;

/** @throws Error when LMDB cannot take the key, or the row cannot be encoded: nothing has been written yet (M6) */
export function prepared<T extends TableName>(table: T, key: KeyOf<T>, row: RowOf<T> | null): PreparedWrite {
  if (keyBytes(key) > keyBytes_max) throw new Error(`a key of ${table} is too long`);
  if (row === null) return { table, key, bytes: null };
  requireReadable(table, key);
  return { table, key, bytes: encodeRow(table, key, row) };
}

/** A row under an unreadable key may be removed, but none is added. */
function requireReadable(table: TableName, key: unknown): void {
  if (!isReadable(key)) throw new Error(`a key of ${table} would not be read as it is written`);
}

/**
 * An upper bound for the size of the encoded key.
 * @throws Error for a value that is not a key
 */
function keyBytes(key: unknown): number {
  if (typeof key === "number" && Number.isFinite(key)) return numberBytes;
  // A control character is escaped by another one, and the string ends with one.
  if (typeof key === "string") return key.length * maxBytesPerUnit(key) + 2;
  if (!Array.isArray(key)) throw new Error(`${String(key)} is no key`);
  let bytes = 0;
  for (const part of key) bytes += keyBytes(part);
  return bytes;
}

/** Maximum bytes per UTF-16 unit in UTF-8, measured only where it may matter. */
function maxBytesPerUnit(text: string): number {
  return text.length * 3 < keyBytes_max / 4 ? 3 : Math.max(1, (2 * Buffer.byteLength(text)) / text.length);
}

/**
 * @param extent how much of the file is checked before LMDB opens it
 * @throws Error when the folder cannot be created or is not an LMDB environment; DamagedData
 */
export function openLmdb(folder: string, extent: CheckDepth = "inner-pages"): Lmdb {
  const tables = new LmdbTables(folder, extent);
  try {
    const lmdb = lmdbOf(tables);
    refuseUnknownTables(lmdb, tables.unknownTables);
    return lmdb;
  } catch (error) {
    void tables.close();
    throw error;
  }
}

export function lmdbOf(tables: StoreTables): Lmdb {
  const unreadable = new UnreadableRows();
  /** Null for a row whose key cannot be read. */
  const rowIn = <T extends TableName>(table: T, entry: TableEntry): RowOf<T> | null => {
    try {
      return decodeRowOf(tables.file, table, entry.key, entry.value);
    } catch (error) {
      if (unreadable.has(table, entry)) return null;
      throw error;
    }
  };
  return {
    file: tables.file,
    get unreadableRows() {
      return [...unreadable.messages];
    },
    get isWriting() {
      return tables.isWriting;
    },
    get(table, key) {
      const bytes = tables.get(table, key);
      return bytes === undefined ? undefined : decodeRowOf(tables.file, table, key, bytes);
    },
    noteRead: (table, key) => tables.noteRead(table, key),
    has: (table, key) => tables.get(table, key) !== undefined,
    rows(table, range) {
      const found: { key: KeyOf<typeof table>; row: RowOf<typeof table> }[] = [];
      for (const entry of tables.range(table, range)) {
        const row = rowIn(table, entry);
        if (row !== null) found.push({ key: entry.key as KeyOf<typeof table>, row });
      }
      return found;
    },
    keys(table, range) {
      const found: KeyOf<typeof table>[] = [];
      for (const key of tables.keys(table, range))
        if (!(key instanceof Uint8Array)) found.push(key as KeyOf<typeof table>);
      return found;
    },
    each(table, visit) {
      for (const entry of tables.range(table, {})) {
        const row = rowIn(table, entry);
        if (row !== null) visit(row, entry.key as KeyOf<typeof table>);
      }
    },
    write: ({ table, key, bytes }) => tables.write(table, key, bytes),
    put(table, key, row) {
      requireReadable(table, key);
      const bytes = encodeRow(table, key, row);
      tables.write(table, key, bytes);
      return bytes.length;
    },
    remove: (table, key) => tables.write(table, key, null),
    transaction: (work) => tables.transaction(work),
    clearDeadReaders: () => tables.clearDeadReaders(),
    backup: (target) => tables.backup(target),
    count: (table) => tables.count(table),
    verify(table, report) {
      for (const entry of tables.range(table, {})) {
        try {
          rowIn(table, entry);
        } catch (error) {
          report(error);
        }
      }
    },
    refresh: () => tables.refresh(),
    close: () => tables.close(),
  };
}
