/**
 * Encodes rows: a MessagePack list of the table's version and the row's fields in the order of `rowFields`, wrapped in
 * a seal that detects damage on disk. No shared structures: an aborted transaction would corrupt them
 * (pitfalls 1.6).
 *
 * The seal of a stored row: a mark byte, the row's bytes, and a CRC32C over table, key and both. It detects changed
 * bytes and rows that are stored under a wrong key.
 *
 * The order of keys in LMDB. lmdb encodes a key with `ordered-binary` and compares the bytes; as a string of one
 * character per byte, the encoded key has the same order in memory. Numbers order like their encodings, so a key that
 * is a number stays one.
 */
import { crc32c } from "@node-rs/crc32";
import { Packr } from "msgpackr";
import { enableNullTermination, fromBufferKey, readKey, writeKey } from "ordered-binary";
import { type RowOf, rowFields, rowVersions, type TableName } from "../../schemas/records.ts";
import { DamagedRow, namedIn } from "./damage.ts";
import { migrateRow } from "./migrations.ts";

/** A key as it orders: equal for two keys exactly if LMDB treats them as one. */
export type OrderedKey = number | string;

/** Longer keys are rejected by LMDB with 4 KiB pages. */
export const keyBytes_max = 1978;

// The library writes up to 12 bytes beyond a key, and as many more before it notices that a string is too long.
const scratch = Buffer.alloc(8192);

/**
 * `ordered-binary` escapes U+0000 to U+0004 and keeps lone surrogates, but only in texts of fewer UTF-16 units. Longer
 * ones with such characters are read as other keys.
 */
const longTextUnits = 64;
const unreadable = /[\p{Cc}\p{Cs}]/u;

/** Whether LMDB returns a key as it was written. A list has no minus zero either. */
export function isReadable(key: unknown): boolean {
  if (typeof key === "string") return key.length < longTextUnits || !unreadable.test(key);
  return !Array.isArray(key) || key.every((part) => isReadable(part) && !Object.is(part, -0));
}

/** How LMDB reads and writes keys. One that cannot be read is returned as its bytes, which are written as they are. */
export const keyEncoder = {
  writeKey,
  readKey(buffer: Buffer, start: number, end: number): unknown {
    // A text of that length has at least so many bytes.
    if (end - start < longTextUnits) return readKey(buffer, start, end);
    const bytes = Buffer.from(buffer.subarray(start, end));
    return plainKeyOf(bytes) ?? bytes;
  },
  enableNullTermination,
};

/** undefined: it is none that `isReadable` accepts. No table has two texts in its keys. */
function plainKeyOf(bytes: Buffer): unknown {
  const name = bytes.toString("latin1");
  try {
    const key: unknown = fromBufferKey(bytes);
    const parts: readonly unknown[] = Array.isArray(key) ? key : [key];
    const isPlain = parts.every((part) => typeof part === "number" || typeof part === "string");
    const texts = parts.filter((part) => typeof part === "string");
    return isPlain && texts.length <= 1 && nameOfKey(key) === name ? key : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The keys with a long text that are written as these bytes: a NUL in the text looks like the end of it. */
export function longKeysOf(name: string): (readonly (number | string)[])[] {
  const keys: (readonly (number | string)[])[] = [];
  const bytes = Buffer.from(name, "latin1");
  const before: number[] = [];
  let start = 0;
  for (; isNumberAt(bytes, start) && bytes[start + numberBytes_max] === 0; start += numberBytes_max + 1)
    before.push(numberAt(bytes, start));
  if (bytes[start] === escapeByte) start++;
  const after: number[] = [];
  let end = bytes.length;
  for (;;) {
    const text = bytes.toString("utf8", start, end);
    if (text.length < longTextUnits) return keys;
    keys.push([...before, text, ...after]);
    end -= numberBytes_max + 1;
    if (bytes[end] !== 0 || !isNumberAt(bytes, end + 1)) return keys;
    after.unshift(numberAt(bytes, end + 1));
  }
}

/** Before a text that starts like something else. */
const escapeByte = 27;

function isNumberAt(bytes: Buffer, at: number): boolean {
  const type = bytes[at] ?? 0;
  return type >= 8 && type < 24;
}

function numberAt(bytes: Buffer, at: number): number {
  return fromBufferKey(bytes.subarray(at, at + numberBytes_max)) as number;
}

/** @throws RangeError when the key is far longer than LMDB accepts */
export function orderedKey(key: unknown): OrderedKey {
  // LMDB has no minus zero.
  return typeof key === "number" ? key + 0 : nameOfKey(key);
}

/**
 * The bytes of a key in LMDB, one per character.
 * @throws RangeError when the key is far longer than LMDB accepts
 */
export function nameOfKey(key: unknown): string {
  return scratch.toString("latin1", 0, writeKey(key as Parameters<typeof writeKey>[0], scratch, 0));
}

/** The inverse of `nameOfKey`. */
export function keyOfName(name: string): unknown {
  return fromBufferKey(Buffer.from(name, "latin1"));
}

/** @returns the position after the key */
export function writeOrderedKey(key: OrderedKey, target: Buffer, position: number): number {
  if (typeof key === "string") return position + target.write(key, position, "latin1");
  return writeKey(key, target, position);
}

export function orderedKeyBytes(key: OrderedKey): number {
  return typeof key === "number" ? numberBytes_max : key.length;
}
const numberBytes_max = 9;

export function compareOrdered(one: OrderedKey, other: OrderedKey): number {
  if (typeof one === typeof other) return one < other ? -1 : one > other ? 1 : 0;
  // A table with both numbers and lists of numbers.
  return typeof one === "number" ? compareOrdered(nameOfKey(one), other) : compareOrdered(one, nameOfKey(other));
}

/** Compares decoded keys; most are numbers or lists of numbers, which need no encoding. */
export function compareKeys(one: unknown, other: unknown): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  if (Array.isArray(one) && Array.isArray(other)) {
    const shared = Math.min(one.length, other.length);
    for (let index = 0; index < shared; index++) {
      const [first, second]: unknown[] = [one[index], other[index]];
      if (typeof first !== "number" || typeof second !== "number") return compareEncoded(one, other);
      if (first !== second) return first - second;
    }
    return one.length - other.length;
  }
  return compareEncoded(one, other);
}

function compareEncoded(one: unknown, other: unknown): number {
  return compareOrdered(nameOfKey(one), nameOfKey(other));
}

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
