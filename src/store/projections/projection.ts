/**
 * A projection is what a realm keeps in memory of some tables. It is changed by the same deltas that the store was
 * given, right after a command's writes (M9), and rebuilt from the rows when a realm opens.
 */
import type { RowOf, TableName } from "../../../schemas/records.ts";

/** One write of a command: `row` null means removed. */
export interface Delta<T extends TableName = TableName> {
  readonly table: T;
  readonly key: unknown;
  readonly row: RowOf<T> | null;
}

export interface Projection {
  readonly tables: readonly TableName[];
  /** @throws Error when a row could not be read back: asked before it is written for good (M6, M9) */
  check?(delta: Delta): void;
  apply(delta: Delta): void;
  /** A plain, ordered picture of the whole content, for the comparison with a rebuild (M9). */
  picture(): unknown;
}

/** Map entries in ascending order of their keys, so that pictures compare. */
export function sortedEntries<K extends number | string, V>(map: ReadonlyMap<K, V>): [K, V][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

/** A set as an ascending list. */
export function sortedNumbers(values: Iterable<number>): number[] {
  return [...values].sort((a, b) => a - b);
}
