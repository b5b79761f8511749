/**
 * One LMDB environment of a realm, with typed tables; only this folder uses lmdb. Writes happen only in `transaction`,
 * which is synchronous and flushes before it returns (M1). A row is prepared before it is written, so a faulty row
 * throws before anything has changed (M6). No cursor outlives a call (pitfalls 1.4).
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import * as lmdb from "lmdb";
import { type Database, open, type RootDatabase } from "lmdb";
import { limits } from "../../schemas/limits.ts";
import { type KeyOf, type RowOf, rowFields, storedName, type TableName } from "../../schemas/records.ts";
import { encodeRow } from "./codec.ts";
import { flushFoldersTo } from "./folders.ts";
import { checkPages, type Extent } from "./lmdb-check.ts";
import { RowReader } from "./row-reader.ts";
import { isSealed, sealBytes } from "./seal.ts";
import type { Environment, PreparedWrite, SealedSlice } from "./store.ts";
import { WriteBuffer } from "./write-buffer.ts";

export type { Environment, PreparedWrite, RowRange, SealedSlice } from "./store.ts";

type RawKey = number | string | (number | string)[];

/** LMDB rejects longer keys with 4 KiB pages: 1,978 bytes. */
const keyBytes_max = 1978;
/** Upper bound for an encoded number, with its type and the separator of list parts. */
const numberBytes = 10;

/** @throws Error when LMDB cannot take the key, or the row cannot be encoded: nothing has been written yet (M6) */
export function prepared<T extends TableName>(table: T, key: KeyOf<T>, row: RowOf<T> | null): PreparedWrite {
  if (keyBytes(key) > keyBytes_max) throw new Error(`a key of ${table} is too long`);
  return { table, key, bytes: row === null ? null : encodeRow(table, key, row) };
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

interface Entry {
  readonly key: unknown;
  readonly value: Buffer;
}

/** @param entries up to one more than `limit`; the extra one is where the next slice starts */
function sealed(entries: readonly Entry[], limit: number, reseal: (entry: Entry) => void): SealedSlice {
  const unsealed = entries.slice(0, limit).filter(({ value }) => !isSealed(value));
  for (const entry of unsealed) reseal(entry);
  return { next: entries[limit]?.key, bytesAdded: unsealed.length * sealBytes };
}

interface Tables {
  readonly root: RootDatabase<Buffer, RawKey>;
  readonly database: (table: TableName) => Database<Buffer, RawKey>;
}

function openTables(folder: string, file: string): Tables {
  // The file contains password hashes, so other users must not read it.
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const isNew = !existsSync(file);
  const root: RootDatabase<Buffer, RawKey> = open({
    path: folder,
    // pitfalls 1.2: readers see only durable data, and a failed commit leaves nothing.
    overlappingSync: false,
    maxDbs: limits.store_tables_max,
    encoding: "binary",
  });
  const databases = new Map<TableName, Database<Buffer, RawKey>>();
  for (const table of Object.keys(rowFields) as TableName[]) {
    databases.set(table, root.openDB<Buffer, RawKey>({ name: storedName(table), encoding: "binary" }));
  }
  if (isNew) flushFoldersTo(folder);
  return { root, database: (table) => databases.get(table) as Database<Buffer, RawKey> };
}

/** The library keeps every database that it ever opened, by name, although nothing reads that list. */
function forget(databases: readonly unknown[]): void {
  const { allDbs } = lmdb as unknown as { readonly allDbs: Map<string, unknown> };
  const closed = new Set(databases);
  for (const [name, database] of allDbs) if (closed.has(database)) allDbs.delete(name);
}

function readerOf(file: string, root: RootDatabase<Buffer, RawKey>, meta: Database<Buffer, RawKey>): RowReader {
  try {
    return new RowReader(file, meta.get("version"));
  } catch (error) {
    void root.close();
    throw error;
  }
}

/**
 * @param extent how much of the file is checked before LMDB opens it
 * @throws Error when the folder cannot be created or is not an LMDB environment; DamagedData
 */
export function openEnvironment(folder: string, extent: Extent = "skeleton"): Environment {
  const file = join(folder, "data.mdb");
  checkPages(file, extent);
  const { root, database } = openTables(folder, file);
  const writeNow = (table: TableName, key: unknown, bytes: Uint8Array | null): void => {
    // A block, not an expression: a returned promise would leave the transaction open (pitfalls 1.1).
    if (bytes === null) void database(table).remove(key as RawKey);
    else void database(table).put(key as RawKey, bytes as Buffer);
  };
  const writeBuffer = new WriteBuffer(writeNow);
  const write = (table: TableName, key: unknown, bytes: Uint8Array | null): void => {
    if (!writeBuffer.take(table, key, bytes)) writeNow(table, key, bytes);
  };
  const bytesOf = (table: TableName, key: unknown): Uint8Array | undefined => {
    const buffered = writeBuffer.get(table, key);
    return buffered === undefined ? database(table).get(key as RawKey) : (buffered ?? undefined);
  };

  const reader = readerOf(file, root, database("meta"));
  let isWriting = false;

  return {
    file,
    get isWriting() {
      return isWriting;
    },
    get(table, key) {
      const bytes = bytesOf(table, key);
      return bytes === undefined ? undefined : reader.read(table, key, bytes);
    },
    has: (table, key) => bytesOf(table, key) !== undefined,
    rows(table, range) {
      writeBuffer.release(table);
      const found: { key: KeyOf<typeof table>; row: RowOf<typeof table> }[] = [];
      for (const entry of database(table).getRange(range as object)) {
        found.push({ key: entry.key as KeyOf<typeof table>, row: reader.read(table, entry.key, entry.value) });
      }
      return found;
    },
    keys(table, range) {
      writeBuffer.release(table);
      const found: KeyOf<typeof table>[] = [];
      for (const key of database(table).getKeys(range as object)) found.push(key as KeyOf<typeof table>);
      return found;
    },
    sealRows(table, from, limit) {
      writeBuffer.release(table);
      const start = from === undefined ? {} : { start: from };
      const entries = [...database(table).getRange({ ...start, limit: limit + 1 } as object)];
      const reseal = ({ key, value }: Entry) =>
        writeNow(table, key, encodeRow(table, key, reader.read(table, key, value)));
      return sealed(entries, limit, reseal);
    },
    requireSeals: () => reader.requireSeals(),
    each(table, visit) {
      writeBuffer.release(table);
      for (const entry of database(table).getRange({})) {
        visit(reader.read(table, entry.key, entry.value), entry.key as KeyOf<typeof table>);
      }
    },
    write: ({ table, key, bytes }) => write(table, key, bytes),
    put(table, key, row) {
      const bytes = encodeRow(table, key, row);
      write(table, key, bytes);
      return bytes.length;
    },
    remove: (table, key) => write(table, key, null),
    transaction<R>(work: () => R): R {
      let result: R | undefined;
      const isOutermost = !isWriting;
      writeBuffer.releaseAll();
      isWriting = true;
      try {
        root.transactionSync(() => {
          result = work();
          writeBuffer.releaseAll();
        });
      } catch (error) {
        writeBuffer.forget();
        throw error;
      } finally {
        if (isOutermost) isWriting = false;
      }
      return result as R;
    },
    clearDeadReaders: () => void root.readerCheck(),
    async backup(target) {
      mkdirSync(target, { recursive: true });
      await root.backup(target, true);
    },
    count(table) {
      writeBuffer.release(table);
      // LMDB maintains this number; counting keys would need a full scan.
      return (database(table).getStats() as { entryCount: number }).entryCount;
    },
    verify: (table, report) => reader.verify(table, database(table).getRange({}), report),
    refresh: () => root.resetReadTxn(),
    close() {
      forget([root, ...(Object.keys(rowFields) as TableName[]).map(database)]);
      return root.close();
    },
  };
}
