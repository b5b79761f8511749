/**
 * Rows that nearly every message needs (where a topic's name leads, what a conversation is), kept decoded. Changed by the same
 * deltas as projections, right after a command's nested transaction returned (M9), so it never shows what rolled back.
 */

import { LRUCache } from "lru-cache";
import { limits } from "../../schemas/limits.ts";
import type { TableName } from "../../schemas/records.ts";
import type { Delta } from "../store/projections/projection.ts";

const cachedTables: ReadonlySet<TableName> = new Set<TableName>([
  "topicNames",
  "directNames",
  "conversations",
  // What a message calls is asked by each of its readers, and whether anything is marked by a reader for each message.
  "messageAttention",
  "readStates",
]);

/** A row that is known not to be there. */
const absent = Symbol("absent");

export class RowCache {
  readonly #rows = new LRUCache<string, object | typeof absent>({ max: limits.cached_rows_max });

  holds(table: TableName): boolean {
    return cachedTables.has(table);
  }

  /** @param read reads the row where it is not known yet */
  get<R>(table: TableName, key: unknown, read: () => R | undefined): R | undefined {
    const name = nameOf(table, key);
    const known = this.#rows.get(name);
    if (known !== undefined) return known === absent ? undefined : (known as R);
    const row = read();
    this.#rows.set(name, (row as object | undefined) ?? absent);
    return row;
  }

  apply({ table, key, row }: Delta): void {
    if (cachedTables.has(table)) this.#rows.set(nameOf(table, key), row ?? absent);
  }
}

function nameOf(table: TableName, key: unknown): string {
  return Array.isArray(key) ? `${table}:${key.join(":")}` : `${table}:${key}`;
}
