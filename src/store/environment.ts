/**
 * One LMDB environment of one realm (or the root), with typed tables. Only this folder knows lmdb.
 * Writes happen in `transaction` only: synchronous, flushed before it returns (M1). A row is prepared before it is written:
 * whatever can be wrong with it shows while nothing is changed yet (M6).
 * No cursor outlives a call: ranges are read at once (pitfalls 1.4).
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Database, open, type RootDatabase } from "lmdb";
import { limits } from "../../schemas/limits.ts";
import { type KeyOf, type RowOf, rowFields, type TableName } from "../../schemas/records.ts";
import { encodeRow } from "./codec.ts";
import { flushFoldersTo } from "./folders.ts";
import { HeldBack } from "./held-back.ts";
import { checkPages, type Extent } from "./lmdb-check.ts";
import { RowReader } from "./row-reader.ts";
import { isSealed, sealBytes } from "./seal.ts";

type RawKey = number | string | (number | string)[];

export interface RowRange {
  readonly start?: unknown;
  readonly end?: unknown;
  readonly reverse?: boolean;
  readonly limit: number;
}

/** A row that is ready to be written, or (bytes null) to be removed. */
export interface PreparedWrite {
  readonly table: TableName;
  readonly key: unknown;
  readonly bytes: Uint8Array | null;
}

/** What `sealRows` did. */
export interface SealedSlice {
  /** The first key that was not looked at; undefined: that was the whole table. */
  readonly next: unknown;
  readonly bytesAdded: number;
}

export interface Environment {
  get<T extends TableName>(table: T, key: KeyOf<T>): RowOf<T> | undefined;
  has<T extends TableName>(table: T, key: KeyOf<T>): boolean;
  rows<T extends TableName>(table: T, range: RowRange): { key: KeyOf<T>; row: RowOf<T> }[];
  keys<T extends TableName>(table: T, range: RowRange): KeyOf<T>[];
  /** The path of its data. */
  readonly file: string;
  /**
   * Gives rows that were written before `sealedSince` their seal, from a key on. Only inside `transaction`.
   * @param limit how many rows are looked at
   */
  sealRows(table: TableName, from: unknown, limit: number): SealedSlice;
  /** From now on a row without a seal is a damaged one: all have theirs. */
  requireSeals(): void;
  /** Walks a whole table; used when a realm opens and by checks, never while a turn runs. */
  each<T extends TableName>(table: T, visit: (row: RowOf<T>, key: KeyOf<T>) => void): void;
  /** Whether `transaction` is running. */
  readonly isWriting: boolean;
  /** Only inside `transaction`. What was prepared fails for reasons of the store alone: the disk, never the row (M5). */
  write(prepared: PreparedWrite): void;
  /** Bytes written. Only inside `transaction`. */
  put<T extends TableName>(table: T, key: KeyOf<T>, row: RowOf<T>): number;
  /** Only inside `transaction`. */
  remove<T extends TableName>(table: T, key: KeyOf<T>): void;
  /**
   * Runs `work` in a write transaction and returns after the flush (M1). Nested: rolls back alone when `work` throws.
   * @throws what `work` throws, after rolling back; any other error means that the commit failed (M5).
   */
  transaction<R>(work: () => R): R;
  /** A process that was killed while it read keeps every page that it could see from being used again: lets go of those. */
  clearDeadReaders(): void;
  /** Copies the environment, compacted, to an existing empty folder. */
  backup(folder: string): Promise<void>;
  count(table: TableName): number;
  /** Reads every row of a table. @param report is told of each that is damaged */
  verify(table: TableName, report: (error: unknown) => void): void;
  /** Reads from here on see what other processes have committed by now. */
  refresh(): void;
  close(): Promise<void>;
}

/** Longer keys are refused by LMDB with pages of 4 KiB: 1,978 bytes. */
const keyBytes_max = 1978;
/** A number with its type, and what separates the parts of a list. */
const numberBytes = 10;

/** @throws Error when LMDB could not take the key, or the row cannot be encoded: nothing is written yet (M6) */
export function prepared<T extends TableName>(table: T, key: KeyOf<T>, row: RowOf<T> | null): PreparedWrite {
  if (keyBytes(key) > keyBytes_max) throw new Error(`a key of ${table} is too long`);
  return { table, key, bytes: row === null ? null : encodeRow(table, key, row) };
}

/** At least as many bytes as the encoded key has. @throws Error for what is no key */
function keyBytes(key: unknown): number {
  if (typeof key === "number" && Number.isFinite(key)) return numberBytes;
  // A character of control is escaped by another; the string ends with one.
  if (typeof key === "string") return key.length * maxBytesPerUnit(key) + 2;
  if (!Array.isArray(key)) throw new Error(`${String(key)} is no key`);
  let bytes = 0;
  for (const part of key) bytes += keyBytes(part);
  return bytes;
}

/** Of a UTF-16 unit in UTF-8, measured only where it may matter. */
function maxBytesPerUnit(text: string): number {
  return text.length * 3 < keyBytes_max / 4 ? 3 : Math.max(1, (2 * Buffer.byteLength(text)) / text.length);
}

interface Entry {
  readonly key: unknown;
  readonly value: Buffer;
}

/** @param entries one more than is sealed, to go on with */
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
  // Password hashes are in it: nobody else reads it.
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const isNew = !existsSync(file);
  const root: RootDatabase<Buffer, RawKey> = open({
    path: folder,
    // pitfalls 1.2: readers see only what is durable, and a failed commit is gone.
    overlappingSync: false,
    maxDbs: limits.store_tables_max,
    encoding: "binary",
  });
  const databases = new Map<TableName, Database<Buffer, RawKey>>();
  for (const table of Object.keys(rowFields) as TableName[]) {
    databases.set(table, root.openDB<Buffer, RawKey>({ name: table, encoding: "binary" }));
  }
  if (isNew) flushFoldersTo(folder);
  return { root, database: (table) => databases.get(table) as Database<Buffer, RawKey> };
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
 * @param extent how much of the file is checked before LMDB believes it
 * @throws Error when the folder cannot be created or is no LMDB environment; DamagedData
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
  const heldBack = new HeldBack(writeNow);
  const write = (table: TableName, key: unknown, bytes: Uint8Array | null): void => {
    if (!heldBack.take(table, key, bytes)) writeNow(table, key, bytes);
  };
  const bytesOf = (table: TableName, key: unknown): Uint8Array | undefined => {
    const held = heldBack.get(table, key);
    return held === undefined ? database(table).get(key as RawKey) : (held ?? undefined);
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
      heldBack.release(table);
      const found: { key: KeyOf<typeof table>; row: RowOf<typeof table> }[] = [];
      for (const entry of database(table).getRange(range as object)) {
        found.push({ key: entry.key as KeyOf<typeof table>, row: reader.read(table, entry.key, entry.value) });
      }
      return found;
    },
    keys(table, range) {
      heldBack.release(table);
      const found: KeyOf<typeof table>[] = [];
      for (const key of database(table).getKeys(range as object)) found.push(key as KeyOf<typeof table>);
      return found;
    },
    sealRows(table, from, limit) {
      heldBack.release(table);
      const start = from === undefined ? {} : { start: from };
      const entries = [...database(table).getRange({ ...start, limit: limit + 1 } as object)];
      const reseal = ({ key, value }: Entry) =>
        writeNow(table, key, encodeRow(table, key, reader.read(table, key, value)));
      return sealed(entries, limit, reseal);
    },
    requireSeals: () => reader.requireSeals(),
    each(table, visit) {
      heldBack.release(table);
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
      heldBack.releaseAll();
      isWriting = true;
      try {
        root.transactionSync(() => {
          result = work();
          heldBack.releaseAll();
        });
      } catch (error) {
        heldBack.forget();
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
      heldBack.release(table);
      // Kept by LMDB itself; counting keys would cost a walk.
      return (database(table).getStats() as { entryCount: number }).entryCount;
    },
    verify: (table, report) => reader.verify(table, database(table).getRange({}), report),
    refresh: () => root.resetReadTxn(),
    close: () => root.close(),
  };
}
