/**
 * The tables of a realm's store, as bytes. LMDB implements them (lmdb-tables.ts), and so does LMDB below the rows of
 * turns that it does not have yet (overlay-tables.ts). Keys are decoded: numbers, strings, or lists of them.
 */
import type { TableName } from "../../schemas/records.ts";
import type { RowRange } from "./store.ts";

export interface TableEntry {
  readonly key: unknown;
  readonly value: Uint8Array;
}

/** Without `limit`: everything. */
export type TableRange = Partial<RowRange>;

export interface StoreTables {
  /** Path of the data file. */
  readonly file: string;
  get(table: TableName, key: unknown): Uint8Array | undefined;
  /** Counts as a read of the row, which the caller has in memory (M9). */
  noteRead(table: TableName, key: unknown): void;
  /** In the order of keys. Ends before the next write. */
  range(table: TableName, range: TableRange): Iterable<TableEntry>;
  keys(table: TableName, range: TableRange): Iterable<unknown>;
  count(table: TableName): number;
  /** Whether `transaction` is running. */
  readonly isWriting: boolean;
  /** Removes the row if `bytes` is null. Must be called inside `transaction`. */
  write(table: TableName, key: unknown, bytes: Uint8Array | null): void;
  /**
   * All writes of `work`, or none if it throws. A nested transaction rolls back alone.
   * @throws what `work` throws; any other error means that the disk failed (M5)
   */
  transaction<R>(work: () => R): R;
  /** Later reads see what other processes and threads have committed by now. */
  refresh(): void;
  clearDeadReaders(): void;
  /** Copies the store, compacted, to an existing empty folder. */
  backup(folder: string): Promise<void>;
  close(): Promise<void>;
}
