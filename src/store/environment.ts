/**
 * One LMDB environment of one realm (or the root), with typed tables. Only this folder knows lmdb.
 * Writes happen in `transaction` only: synchronous, flushed before it returns (M1), nested for one command (M6).
 * No cursor outlives a call: ranges are read at once (pitfalls 1.4).
 */
import { mkdirSync } from "node:fs";
import { type Database, open, type RootDatabase } from "lmdb";
import { limits } from "../../schemas/limits.ts";
import { type KeyOf, type RowOf, rowFields, type TableName } from "../../schemas/records.ts";
import { decodeRow, encodeRow } from "./codec.ts";

type RawKey = number | string | (number | string)[];

export interface RowRange {
  readonly start?: unknown;
  readonly end?: unknown;
  readonly reverse?: boolean;
  readonly limit: number;
}

export interface Environment {
  get<T extends TableName>(table: T, key: KeyOf<T>): RowOf<T> | undefined;
  has<T extends TableName>(table: T, key: KeyOf<T>): boolean;
  rows<T extends TableName>(table: T, range: RowRange): { key: KeyOf<T>; row: RowOf<T> }[];
  keys<T extends TableName>(table: T, range: RowRange): KeyOf<T>[];
  /** Walks a whole table; used when a realm opens and by checks, never while a turn runs. */
  each<T extends TableName>(table: T, visit: (row: RowOf<T>, key: KeyOf<T>) => void): void;
  /** Bytes written. Only inside `transaction`. */
  put<T extends TableName>(table: T, key: KeyOf<T>, row: RowOf<T>): number;
  /** Only inside `transaction`. */
  remove<T extends TableName>(table: T, key: KeyOf<T>): void;
  /**
   * Runs `work` in a write transaction and returns after the flush (M1). Nested: rolls back alone when `work` throws.
   * @throws what `work` throws, after rolling back; any other error means that the commit failed (M5).
   */
  transaction<R>(work: () => R): R;
  /** Copies the environment, compacted, to an existing empty folder. */
  backup(folder: string): Promise<void>;
  count(table: TableName): number;
  close(): Promise<void>;
}

/** @throws Error when the folder cannot be created or is no LMDB environment. */
export function openEnvironment(folder: string): Environment {
  // Password hashes are in it: nobody else reads it.
  mkdirSync(folder, { recursive: true, mode: 0o700 });
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
  const database = (table: TableName): Database<Buffer, RawKey> => databases.get(table) as Database<Buffer, RawKey>;

  return {
    get(table, key) {
      const bytes = database(table).get(key as RawKey);
      return bytes === undefined ? undefined : decodeRow(table, bytes);
    },
    has: (table, key) => database(table).get(key as RawKey) !== undefined,
    rows(table, range) {
      const found: { key: KeyOf<typeof table>; row: RowOf<typeof table> }[] = [];
      for (const entry of database(table).getRange(range as object)) {
        found.push({ key: entry.key as KeyOf<typeof table>, row: decodeRow(table, entry.value) });
      }
      return found;
    },
    keys(table, range) {
      const found: KeyOf<typeof table>[] = [];
      for (const key of database(table).getKeys(range as object)) found.push(key as KeyOf<typeof table>);
      return found;
    },
    each(table, visit) {
      for (const entry of database(table).getRange({})) {
        visit(decodeRow(table, entry.value), entry.key as KeyOf<typeof table>);
      }
    },
    put(table, key, row) {
      const bytes = encodeRow(table, row);
      // A block, not an expression: a returned promise would leave the transaction open (pitfalls 1.1).
      void database(table).put(key as RawKey, bytes);
      return bytes.length;
    },
    remove(table, key) {
      void database(table).remove(key as RawKey);
    },
    transaction<R>(work: () => R): R {
      let result: R | undefined;
      root.transactionSync(() => {
        result = work();
      });
      return result as R;
    },
    async backup(target) {
      mkdirSync(target, { recursive: true });
      await root.backup(target, true);
    },
    count: (table) => database(table).getKeysCount(),
    async close() {
      await root.close();
    },
  };
}
