/**
 * Encodes rows: a MessagePack list of the table's version and the row's fields in the order of `rowFields`, wrapped in
 * a seal (seal.ts) that detects damage on disk. No shared structures: an aborted transaction would corrupt them
 * (pitfalls 1.6).
 */
import { Packr } from "msgpackr";
import { type RowOf, rowFields, rowVersions, type TableName } from "../../schemas/records.ts";
import { DamagedRow, namedIn } from "./damage.ts";
import { migrateRow } from "./migrations.ts";
import { checkSeal, contentsOf, seal } from "./seal.ts";

// Self-contained encoding. Records encoded as maps would repeat field names in each row, so rows are lists.
const packr = new Packr({ useRecords: false, copyBuffers: true, variableMapSize: true });

type Row = Readonly<Record<string, unknown>>;

/** Converts the rows of one table to lists and back. */
interface Shape {
  readonly version: number;
  /** Absent fields become null. */
  readonly toList: (row: Row) => unknown[];
  /** Fields that were added after the row was written are null. */
  readonly toRow: (list: readonly unknown[]) => Row;
}

/**
 * One function per table, compiled from its fields, so that all rows of a table share one hidden class. A loop over the
 * fields takes twice as long.
 */
const shapes = Object.fromEntries(
  (Object.keys(rowFields) as TableName[]).map((table) => [table, shapeOf(table, rowFields[table])]),
) as Readonly<Record<TableName, Shape>>;

function shapeOf(table: TableName, fields: readonly string[]): Shape {
  const version = rowVersions[table];
  const values = fields.map((field) => `, row[${JSON.stringify(field)}] ?? null`);
  const entries = fields.map((field, index) => `${JSON.stringify(field)}: list[${index + 1}] ?? null`);
  return {
    version,
    toList: new Function("row", `return [${version}${values.join("")}];`) as Shape["toList"],
    toRow: new Function("list", `return {${entries.join(", ")}};`) as Shape["toRow"],
  };
}

/** @throws Error when a value cannot be encoded: a bug in the command that wrote it (M6) */
export function encodeRow<T extends TableName>(table: T, key: unknown, row: RowOf<T>): Buffer {
  return seal(table, key, packr.pack(shapes[table].toList(row as Row)));
}

/**
 * @throws DamagedRow when the bytes differ from those written under this key
 * @throws Error when a newer program wrote them
 */
export function decodeRow<T extends TableName>(table: T, key: unknown, bytes: Uint8Array): RowOf<T> {
  checkSeal(table, key, bytes);
  const list = unpacked(table, key, bytes);
  const version = Array.isArray(list) ? (list[0] as unknown) : undefined;
  if (!Array.isArray(list) || typeof version !== "number") throw new DamagedRow(table, key, "has an unknown codec");
  const shape = shapes[table];
  const row = shape.toRow(list);
  return (version === shape.version ? row : migrateRow(table, version, row)) as RowOf<T>;
}

/**
 * The same for a row of a file, which errors name.
 * @throws DamagedData
 */
export function decodeRowOf<T extends TableName>(file: string, table: T, key: unknown, bytes: Uint8Array): RowOf<T> {
  try {
    return decodeRow(table, key, bytes);
  } catch (error) {
    throw namedIn(file, error);
  }
}

function unpacked(table: TableName, key: unknown, bytes: Uint8Array): unknown {
  try {
    return packr.unpack(bytes, contentsOf(bytes));
  } catch (error) {
    throw new DamagedRow(table, key, `cannot be decoded (${error instanceof Error ? error.message : String(error)})`);
  }
}
