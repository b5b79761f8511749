/**
 * The interface of a realm's store for the rest of the program. The LMDB environment implements it (environment.ts).
 */
import type { KeyOf, RowOf, TableName } from "../../schemas/records.ts";

export interface RowRange {
  readonly start?: unknown;
  readonly end?: unknown;
  readonly reverse?: boolean;
  readonly limit: number;
}

/** A row that is ready to be written, or to be removed if `bytes` is null. */
export interface PreparedWrite {
  readonly table: TableName;
  readonly key: unknown;
  readonly bytes: Uint8Array | null;
}

export interface Lmdb {
  get<T extends TableName>(table: T, key: KeyOf<T>): RowOf<T> | undefined;
  /** Counts as a read of the row, which the caller has in memory (M9). */
  noteRead(table: TableName, key: unknown): void;
  has<T extends TableName>(table: T, key: KeyOf<T>): boolean;
  rows<T extends TableName>(table: T, range: RowRange): { key: KeyOf<T>; row: RowOf<T> }[];
  keys<T extends TableName>(table: T, range: RowRange): KeyOf<T>[];
  /** Path of the data file. */
  readonly file: string;
  /** One line for each of the first rows that were left out, because their keys cannot be read (unreadable-keys.ts). */
  readonly unreadableRows: readonly string[];
  /** Walks a whole table. Used when a realm opens and by checks, never during a turn. */
  each<T extends TableName>(table: T, visit: (row: RowOf<T>, key: KeyOf<T>) => void): void;
  /** Whether `transaction` is running. */
  readonly isWriting: boolean;
  /**
   * Must be called inside `transaction`. A prepared write can fail only because of the disk, never because of the row
   * (M5).
   */
  write(prepared: PreparedWrite): void;
  /** Returns the number of bytes written. Must be called inside `transaction`. */
  put<T extends TableName>(table: T, key: KeyOf<T>, row: RowOf<T>): number;
  /** Must be called inside `transaction`. */
  remove<T extends TableName>(table: T, key: KeyOf<T>): void;
  /**
   * Runs `work` in a write transaction and returns after the flush (M1). A nested transaction rolls back alone when
   * `work` throws.
   * @throws what `work` throws, after rolling back; any other error means that the commit failed (M5)
   */
  transaction<R>(work: () => R): R;
  /** Removes readers of killed processes, which would keep every page that they could see from being reused. */
  clearDeadReaders(): void;
  /** Copies the environment, compacted, to an existing empty folder. */
  backup(folder: string): Promise<void>;
  count(table: TableName): number;
  /**
   * Reads every row of a table.
   * @param report called for each damaged row
   */
  verify(table: TableName, report: (error: unknown) => void): void;
  /** Later reads see what other processes have committed by now. */
  refresh(): void;
  close(): Promise<void>;
}
