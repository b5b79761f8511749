/** Writes many rows in one transaction: a table that is one row below its bound, without that many requests (S3). */

import type { KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import type { Realm } from "../../src/runtime/realm.ts";
import { deltaOf } from "../../src/store/projections/projection.ts";

export type Rows<T extends TableName> = readonly (readonly [KeyOf<T>, RowOf<T>])[];

/** Updates projections, as decided commands do. */
export function fill<T extends TableName>(realm: Realm, table: T, rows: Rows<T>): void {
  const { lmdb, projections, dispatcher } = realm;
  lmdb.transaction(() => {
    for (const [key, row] of rows) lmdb.put(table, key, row);
  });
  for (const [key, row] of rows) {
    const delta = deltaOf(table, key, row);
    projections.apply(delta);
    for (const follower of dispatcher.view.followers) follower.apply(delta);
  }
}

/** One row for each number from `first` on. */
export function rowsFor<T extends TableName>(
  count: number,
  make: (index: number) => readonly [KeyOf<T>, RowOf<T>],
  first = 1,
): Rows<T> {
  return Array.from({ length: count }, (_, index) => make(first + index));
}
