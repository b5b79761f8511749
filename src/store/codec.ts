/**
 * How a row becomes bytes: a MessagePack list that begins with the table's version, followed by the row's fields in the order
 * of `rowFields`. Another codec would begin with another byte than a list does. No shared structures: an aborted
 * transaction would corrupt them (pitfalls 1.6).
 */
import { Packr } from "msgpackr";
import { type RowOf, rowFields, type TableName } from "../../schemas/records.ts";
import { migrateRow, rowVersions } from "./migrations.ts";

// Plain encoding, self-contained; records as maps would repeat field names in each row, so rows are lists.
const packr = new Packr({ useRecords: false, copyBuffers: true, variableMapSize: true });

/** @throws Error when a value cannot be encoded: a bug in the command that wrote it (M6). */
export function encodeRow<T extends TableName>(table: T, row: RowOf<T>): Buffer {
  const fields = rowFields[table];
  const values: unknown[] = [rowVersions[table]];
  for (const field of fields) {
    const value = (row as Record<string, unknown>)[field];
    values.push(value === undefined ? null : value);
  }
  return packr.pack(values);
}

/** @throws Error when the bytes are not of this store: it was written by a newer version, or is damaged. */
export function decodeRow<T extends TableName>(table: T, bytes: Uint8Array): RowOf<T> {
  const values = packr.unpack(bytes) as unknown;
  const version = Array.isArray(values) ? (values[0] as unknown) : undefined;
  if (!Array.isArray(values) || typeof version !== "number") throw new Error(`a row of ${table} has an unknown codec`);
  const fields = rowFields[table];
  const row: Record<string, unknown> = {};
  for (let index = 0; index < fields.length; index++) {
    const value = values[index + 1] as unknown;
    row[fields[index] as string] = value === undefined ? null : value;
  }
  return (version === rowVersions[table] ? row : migrateRow(table, version, row)) as RowOf<T>;
}
