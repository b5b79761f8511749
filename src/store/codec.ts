/**
 * Encodes rows: a MessagePack list of the table's version and the row's fields in the order of `rowFields`, wrapped in
 * a seal (seal.ts) that detects damage on disk. No shared structures: an aborted transaction would corrupt them
 * (pitfalls 1.6).
 *
 * The seal of a stored row: a mark byte, the row's bytes, and a CRC32C over table, key and both. It detects changed
 * bytes and rows that are stored under a wrong key.
 */

import { crc32c } from "@node-rs/crc32";
import { Packr } from "msgpackr";
import { type RowOf, rowFields, rowVersions, type TableName } from "../../schemas/records.ts";
import { DamagedRow, namedIn } from "./damage.ts";
import { migrateRow } from "./migrations.ts";

/** MessagePack never uses it, and JSON never starts with it. */
const mark = 0xc1;
const markBytes = 1;
const sumBytes = 4;
/** Number of bytes that a seal adds to a row. */
const sealBytes = markBytes + sumBytes;
/** Any bytes followed by their own CRC32C have this CRC32C. */
const residue = 0x48674bc7;

export function seal(table: string, key: unknown, contents: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(contents.length + sealBytes);
  bytes[0] = mark;
  bytes.set(contents, markBytes);
  const end = bytes.length - sumBytes;
  bytes.writeUInt32LE(sumOf(bytes, end, placeOf(table, key)), end);
  return bytes;
}

/** @throws DamagedRow when the bytes are not those that were sealed under this key */
export function checkSeal(table: string, key: unknown, bytes: Uint8Array): void {
  if (bytes.length < sealBytes || bytes[0] !== mark) throw new DamagedRow(table, key, "has no checksum");
  if (!isSealOf(table, key, bytes)) throw new DamagedRow(table, key, "has a wrong checksum");
}

/** Whether sealed bytes are those that were sealed under this key. */
export function isSealOf(table: string, key: unknown, bytes: Uint8Array): boolean {
  return sumOf(bytes, bytes.length, placeOf(table, key)) === residue;
}

/** Start and end of a sealed row's contents. */
export function contentsOf(bytes: Uint8Array): { readonly start: number; readonly end: number } {
  return { start: markBytes, end: bytes.length - sumBytes };
}

/** A call of the library takes as long as a loop over so many bytes; most rows are indexes, which are shorter. */
const loopBytes_max = 32;
const polynomial = 0x82f63b78;
const remainders = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = (rest & 1) === 1 ? (rest >>> 1) ^ polynomial : rest >>> 1;
  return rest;
});

/** The CRC32C of the first bytes. */
function sumOf(bytes: Uint8Array, end: number, state: number): number {
  if (end > loopBytes_max) return crc32c((end === bytes.length ? bytes : bytes.subarray(0, end)) as Buffer, state);
  let rest = ~state;
  for (let index = 0; index < end; index++) {
    rest = (remainders[(rest ^ (bytes[index] as number)) & 0xff] as number) ^ (rest >>> 8);
  }
  return ~rest >>> 0;
}

const tableStates = new Map<string, number>();
const numberBits = new Float64Array(1);
const numberHalves = new Int32Array(numberBits.buffer);

/**
 * Encodes a row's table and key as the initial state of its checksum: the same bytes have a different checksum under
 * another key.
 */
function placeOf(table: string, key: unknown): number {
  let state = tableStates.get(table);
  if (state === undefined) {
    state = crc32c(table);
    tableStates.set(table, state);
  }
  return mixed(state, key) >>> 0;
}

/** LMDB treats a list of one part like the part itself, and flattens nested lists; so does this function. */
function mixed(state: number, part: unknown): number {
  if (typeof part === "number") {
    // LMDB has no minus zero.
    numberBits[0] = part + 0;
    const low = Math.imul(state ^ (numberHalves[0] as number), 0x85ebca6b);
    const high = Math.imul(low ^ (low >>> 13) ^ (numberHalves[1] as number), 0xc2b2ae35);
    return high ^ (high >>> 16);
  }
  if (typeof part === "string") return Math.imul(crc32c(part, state >>> 0), 0x85ebca6b);
  let next = state;
  for (const inner of part as readonly unknown[]) next = mixed(next, inner);
  return next;
}

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
