/**
 * A realm that joins a cluster: its whole store as the records of its next turns. They change nothing for the node that
 * has the store, and a node with an empty store has everything after the last of them.
 */
import { limits } from "../../../schemas/limits.ts";
import { rowFields, type TableName } from "../../../schemas/records.ts";
import { compareKeys, orderedKey } from "../../store/codec.ts";
import { ownerKey } from "../../store/fence.ts";
import type { StoreTables, TableEntry } from "../../store/tables.ts";
import { turnKey } from "../../store/turn-number.ts";
import { RecordEncoder, type WrittenRow, type WrittenTable } from "../journal/record.ts";

/** Rows of the table `meta` that belong to this store, not to the realm. */
const own: readonly unknown[] = [ownerKey, turnKey];

interface Slice {
  readonly tables: readonly WrittenTable[];
}

const chunkRows_max = 1000;

/** Rows behind a key, copied at once: no cursor may wait for an acknowledgement (pitfalls 1.4). */
function chunkOf(tables: StoreTables, table: TableName, after: unknown): TableEntry[] {
  const range = after === undefined ? {} : { start: after };
  const chunk: TableEntry[] = [];
  let bytes = 0;
  for (const { key, value } of tables.range(table, { ...range, limit: chunkRows_max })) {
    if (after !== undefined && compareKeys(key, after) === 0) continue;
    chunk.push({ key, value: Uint8Array.from(value) });
    bytes += value.length;
    if (bytes >= limits.cluster_base_record_bytes) break;
  }
  return chunk;
}

/** The rows in slices; each has at least one. */
function* slicesOf(tables: StoreTables): Generator<Slice> {
  let slice: { name: string; written: WrittenRow[] }[] = [];
  let bytes = 0;
  for (const table of Object.keys(rowFields) as TableName[]) {
    for (
      let chunk = chunkOf(tables, table, undefined);
      chunk.length > 0;
      chunk = chunkOf(tables, table, chunk.at(-1)?.key)
    ) {
      const rows = chunk.filter(({ key }) => table !== "meta" || !own.includes(key));
      if (rows.length === 0) continue;
      const written = rows.map(({ key, value }) => ({ ordered: orderedKey(key), bytes: value }));
      slice.push({ name: table, written });
      bytes += rows.reduce((sum, { value }) => sum + value.length, 0);
      if (bytes < limits.cluster_base_record_bytes) continue;
      yield { tables: slice };
      slice = [];
      bytes = 0;
    }
  }
  if (slice.length > 0) yield { tables: slice };
}

export function countBase(tables: StoreTables): number {
  let count = 0;
  for (const _slice of slicesOf(tables)) count++;
  return count;
}

/** @param turn the last turn of the store */
export function* baseRecords(tables: StoreTables, turn: number, now: number): Generator<Uint8Array> {
  const encoder = new RecordEncoder();
  let next = turn;
  for (const slice of slicesOf(tables)) yield encoder.encode(++next, now, slice.tables);
}
