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

/** A call that writes a text takes as long as a loop over so many characters; most keys are shorter. */
const loopUnits_max = 40;

/** @returns the position after the key */
export function writeOrderedKey(key: OrderedKey, target: Buffer, position: number): number {
  if (typeof key !== "string") return writeKey(key, target, position);
  if (key.length > loopUnits_max) return position + target.write(key, position, "latin1");
  for (let at = 0; at < key.length; at++) target[position + at] = key.charCodeAt(at);
  return position + key.length;
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
  bytes.writeUInt32LE(sumOf(bytes, 0, end, placeOf(table, key)), end);
  return bytes;
}

/** @throws DamagedRow when the bytes are not those that were sealed under this key */
export function checkSeal(table: string, key: unknown, bytes: Uint8Array): void {
  if (bytes.length < sealBytes || bytes[0] !== mark) throw new DamagedRow(table, key, "has no checksum");
  if (!isSealOf(table, key, bytes)) throw new DamagedRow(table, key, "has a wrong checksum");
}

/** Whether sealed bytes are those that were sealed under this key. */
export function isSealOf(table: string, key: unknown, bytes: Uint8Array): boolean {
  return sumOf(bytes, 0, bytes.length, placeOf(table, key)) === residue;
}

/** Start and end of a sealed row's contents. */
export function contentsOf(bytes: Uint8Array): { readonly start: number; readonly end: number } {
  return { start: markBytes, end: bytes.length - sumBytes };
}

/** A call of the library takes as long as a loop over so many bytes; most rows are shorter. */
const loopBytes_max = 192;
const polynomial = 0x82f63b78;
/** The part of a byte in the checksum, by the number of bytes that follow it in a word. */
const [followed0, followed1, followed2, followed3] = remainders();

function remainders(): readonly [Int32Array, Int32Array, Int32Array, Int32Array] {
  const last = Int32Array.from({ length: 256 }, (_, byte) => {
    let rest = byte;
    for (let bit = 0; bit < 8; bit++) rest = (rest & 1) === 1 ? (rest >>> 1) ^ polynomial : rest >>> 1;
    return rest;
  });
  const followed = (list: Int32Array) => list.map((rest) => (last[rest & 0xff] as number) ^ (rest >>> 8));
  const [one, two] = [followed(last), followed(followed(last))];
  return [last, one, two, followed(two)];
}

/** The CRC32C of the bytes from `start` to `end`. */
function sumOf(bytes: Uint8Array, start: number, end: number, state: number): number {
  if (end - start > loopBytes_max) return crc32c(bytes.subarray(start, end) as Buffer, state);
  let rest = ~state;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const low = (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
    rest ^= low | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24);
    rest =
      (followed3[rest & 0xff] as number) ^
      (followed2[(rest >>> 8) & 0xff] as number) ^
      (followed1[(rest >>> 16) & 0xff] as number) ^
      (followed0[rest >>> 24] as number);
  }
  for (; at < end; at++) rest = (followed0[(rest ^ (bytes[at] as number)) & 0xff] as number) ^ (rest >>> 8);
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

/** The format of rows, for the general encoder and the decoder. Records encoded as maps would repeat names in each row. */
const packr = new Packr({ useRecords: false, copyBuffers: true, variableMapSize: true });

/** A row that is kept keeps its buffer: as large as the blocks of which Node makes small buffers. */
const bufferBytes = 8 * 1024;
/** A buffer that is larger is not used for further rows. */
const rowBytes_max = bufferBytes / 2;
/** Longer texts are faster to write with a call of Node. */
const loopTextUnits_max = 40;
/** Longer texts are measured before they are written, so that not too much room is made for them. */
const guessedUnits_max = 256;
const bytesPerUnit_max = 3;
/** The most bytes in front of a value, and those of a number. */
const headBytes = 9;

/**
 * Writes rows as MessagePack, one after the other into few buffers: values go where they stay, without a list of them
 * and without copies. It writes the bytes that msgpackr writes for the same plain data. Every other kind of value
 * (bytes, dates) is left to msgpackr.
 */
class RowWriter {
  /** The buffer of the current row, and the place of the next byte. */
  bytes = Buffer.allocUnsafeSlow(bufferBytes);
  position = 0;
  #view = viewOf(this.bytes);
  /** Where the current row begins: what a row wrote that threw is overwritten by the next one. */
  start = 0;

  /** @param prefixBytes room for the caller */
  begin(prefixBytes: number): void {
    this.position = this.start;
    this.reserve(prefixBytes);
    this.position += prefixBytes;
  }

  /** @returns the row, in memory that nothing else writes to */
  end(): Uint8Array {
    const { bytes, start, position } = this;
    this.start = position;
    const row = new Uint8Array(bytes.buffer, start, position - start);
    if (bytes.length === bufferBytes) return row;
    this.#use(Buffer.allocUnsafeSlow(bufferBytes));
    this.start = 0;
    return row.slice();
  }

  /** Makes room for so many bytes. */
  reserve(bytes: number): void {
    if (this.position + bytes > this.bytes.length) this.#grow(bytes);
  }

  #grow(bytes: number): void {
    const written = this.position - this.start;
    const needed = written + bytes;
    const grown = Buffer.allocUnsafeSlow(needed <= rowBytes_max ? bufferBytes : 2 * needed);
    this.bytes.copy(grown, 0, this.start, this.position);
    this.#use(grown);
    this.start = 0;
    this.position = written;
  }

  #use(bytes: Buffer<ArrayBuffer>): void {
    this.bytes = bytes;
    this.#view = viewOf(bytes);
  }

  /** @throws Error when the value, or a value in it, cannot be encoded */
  value(value: unknown): void {
    switch (typeof value) {
      case "string":
        this.#text(value);
        return;
      case "number":
        this.#number(value);
        return;
      case "boolean":
        this.#byte(value ? 0xc3 : 0xc2);
        return;
      case "object":
        if (value === null) this.#byte(0xc0);
        else if (Array.isArray(value)) this.#list(value);
        else if (isPlain(value)) this.#map(value);
        else this.#other(value);
        return;
      default:
        this.#other(value);
    }
  }

  #byte(byte: number): void {
    this.reserve(1);
    this.bytes[this.position++] = byte;
  }

  #number(value: number): void {
    this.reserve(headBytes);
    const { bytes } = this;
    if (value >>> 0 === value) {
      if (value < 0x80) bytes[this.position++] = value;
      else if (value < 0x100) {
        bytes[this.position++] = 0xcc;
        bytes[this.position++] = value;
      } else if (value < 0x10000) this.#head16(0xcd, value);
      else this.#head32(0xce, value);
    } else if (value >> 0 === value) {
      // Negative, because a number of 32 bits that is not was written above.
      if (value >= -0x20) bytes[this.position++] = value + 0x100;
      else if (value >= -0x80) {
        bytes[this.position++] = 0xd0;
        bytes[this.position++] = value + 0x100;
      } else if (value >= -0x8000) this.#head16(0xd1, value & 0xffff);
      else this.#head32(0xd2, value >>> 0);
    } else {
      bytes[this.position++] = 0xcb;
      this.#view.setFloat64(this.position, value);
      this.position += 8;
    }
  }

  #head16(head: number, value: number): void {
    const { bytes, position } = this;
    bytes[position] = head;
    bytes[position + 1] = value >>> 8;
    bytes[position + 2] = value;
    this.position = position + 3;
  }

  #head32(head: number, value: number): void {
    const { bytes, position } = this;
    bytes[position] = head;
    bytes[position + 1] = value >>> 24;
    bytes[position + 2] = value >>> 16;
    bytes[position + 3] = value >>> 8;
    bytes[position + 4] = value;
    this.position = position + 5;
  }

  #text(text: string): void {
    const units = text.length;
    if (units > guessedUnits_max) {
      const length = Buffer.byteLength(text);
      this.reserve(headBytes + length);
      this.#textHead(length);
      this.position += this.bytes.write(text, this.position);
      return;
    }
    this.reserve(headBytes + bytesPerUnit_max * units);
    if (units > loopTextUnits_max || !this.#ascii(text)) this.#guessed(text);
  }

  /** @returns false if the text has other characters: then nothing was written that counts */
  #ascii(text: string): boolean {
    const { bytes } = this;
    const units = text.length;
    const start = this.position + textHeadBytes(units);
    for (let at = 0; at < units; at++) {
      const unit = text.charCodeAt(at);
      if (unit >= 0x80) return false;
      bytes[start + at] = unit;
    }
    this.#textHead(units);
    this.position = start + units;
    return true;
  }

  /** Most texts have as many bytes as units. */
  #guessed(text: string): void {
    const guessed = this.position + textHeadBytes(text.length);
    const length = this.bytes.write(text, guessed);
    const start = this.position + textHeadBytes(length);
    if (start !== guessed) this.bytes.copyWithin(start, guessed, guessed + length);
    this.#textHead(length);
    this.position = start + length;
  }

  #textHead(length: number): void {
    if (length < 0x20) this.bytes[this.position++] = 0xa0 | length;
    else if (length < 0x100) {
      this.bytes[this.position++] = 0xd9;
      this.bytes[this.position++] = length;
    } else if (length < 0x10000) this.#head16(0xda, length);
    else this.#head32(0xdb, length);
  }

  #list(list: readonly unknown[]): void {
    this.listHead(list.length);
    for (let index = 0; index < list.length; index++) this.value(list[index]);
  }

  /** Begins a list of so many values, which follow. */
  listHead(length: number): void {
    this.reserve(headBytes);
    if (length < 0x10) this.bytes[this.position++] = 0x90 | length;
    else if (length < 0x10000) this.#head16(0xdc, length);
    else this.#head32(0xdd, length);
  }

  #map(map: Readonly<Record<string, unknown>>): void {
    const names = Object.keys(map);
    this.reserve(headBytes);
    if (names.length < 0x10) this.bytes[this.position++] = 0x80 | names.length;
    else if (names.length < 0x10000) this.#head16(0xde, names.length);
    else this.#head32(0xdf, names.length);
    for (const name of names) {
      this.#text(name);
      this.value(map[name]);
    }
  }

  #other(value: unknown): void {
    const packed = packr.pack(value);
    this.reserve(packed.length);
    this.bytes.set(packed, this.position);
    this.position += packed.length;
  }
}

function textHeadBytes(length: number): number {
  return length < 0x20 ? 1 : length < 0x100 ? 2 : length < 0x10000 ? 3 : 5;
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function isPlain(value: object): value is Readonly<Record<string, unknown>> {
  return Object.getPrototypeOf(value) === Object.prototype;
}

type Row = Readonly<Record<string, unknown>>;

/** Writes the rows of one table as lists, and makes rows of lists. */
interface Shape {
  readonly version: number;
  /** Writes version and fields as a list. Absent fields become null. */
  readonly write: (writer: RowWriter, row: Row) => void;
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
  const values = fields.map((field) => `writer.value(row[${JSON.stringify(field)}] ?? null);`);
  const entries = fields.map((field, index) => `${JSON.stringify(field)}: list[${index + 1}] ?? null`);
  return {
    version,
    write: new Function(
      "writer",
      "row",
      `writer.listHead(${1 + fields.length}); writer.value(${version}); ${values.join(" ")}`,
    ) as Shape["write"],
    toRow: new Function("list", `return {${entries.join(", ")}};`) as Shape["toRow"],
  };
}

const writer = new RowWriter();

/** @throws Error when a value cannot be encoded: a bug in the command that wrote it (M6) */
export function encodeRow<T extends TableName>(table: T, key: unknown, row: RowOf<T>): Uint8Array {
  writer.begin(markBytes);
  shapes[table].write(writer, row as Row);
  writer.reserve(sumBytes);
  const { bytes, start, position } = writer;
  bytes[start] = mark;
  const sum = sumOf(bytes, start, position, placeOf(table, key));
  for (let at = 0; at < sumBytes; at++) bytes[position + at] = sum >>> (8 * at);
  writer.position += sumBytes;
  return writer.end();
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
