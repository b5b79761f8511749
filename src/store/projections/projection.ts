/**
 * A projection is the in-memory form of some tables of a realm. It is updated by the same deltas that were written to
 * the store, right after a command's writes (M9), and rebuilt from the rows when a realm opens.
 */
import type { KeyOf, RowOf, TableName } from "../../../schemas/records.ts";

/** One write of a command; `row` is null for a removal. */
export type Delta<T extends TableName = TableName> = {
  readonly [Table in T]: {
    readonly table: Table;
    readonly key: KeyOf<Table>;
    readonly row: RowOf<Table> | null;
  };
}[T];

/** A delta of a table that is a parameter. */
export function deltaOf<T extends TableName>(table: T, key: KeyOf<T>, row: RowOf<T> | null): Delta {
  return { table, key, row } satisfies Delta<T> as Delta;
}

/** An object in memory that follows the rows: it gets each delta right after a command's writes, in order (M9). */
export interface Follower {
  apply(delta: Delta): void;
}

export interface Projection extends Follower {
  readonly tables: readonly TableName[];
  /** @throws Error when a row could not be read back; called before the row is written (M6, M9) */
  check?(delta: Delta): void;
  /** A plain, ordered snapshot of the whole content, to be compared with a rebuild (M9). */
  snapshot(): unknown;
}

/** Map entries in ascending order of their keys, so that snapshots are comparable. */
export function sortedEntries<K extends number | string, V>(map: ReadonlyMap<K, V>): [K, V][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

/** Adds an id to an ascending list. New ids are the highest, so usually nothing is sorted. */
export function addAscending(ids: number[], id: number): void {
  const isLast = (ids.at(-1) ?? 0) < id;
  ids.push(id);
  if (!isLast) ids.sort((a, b) => a - b);
}

/** A set as an ascending list. */
export function sortedNumbers(values: Iterable<number>): number[] {
  return [...values].sort((a, b) => a - b);
}
