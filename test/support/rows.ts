/** Many rows at once, in one transaction: a table that is full but for one, without as many requests (S3). */
import type { KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import { realmOf } from "./conversation.ts";
import type { TestServer } from "./server.ts";

export function writeMany<T extends TableName>(
  server: TestServer,
  table: T,
  rows: readonly (readonly [KeyOf<T>, RowOf<T>])[],
): void {
  const { environment, projections } = realmOf(server);
  environment.transaction(() => {
    for (const [key, row] of rows) environment.put(table, key, row);
  });
  for (const [key, row] of rows) projections.apply({ table, key, row: row as RowOf<TableName> });
}
