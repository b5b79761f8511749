/**
 * The record of a turn: everything that it wrote, as bytes. It is the unit of durability, of checkpoints, of
 * replication and of archiving (docs/adr/0009-journal.md). Integers are little-endian, and `length` is a base-128
 * number:
 *
 * format (1 byte), turn (8), time in milliseconds (8), then for each table: length and bytes of its name, number of
 * rows (length), then for each row: length and bytes of the encoded key; 0 if the row is removed, or 1 + length and
 * the bytes of the row
 *
 * Several records in few buffers, which are handed to another thread as they are: each record with its length (4
 * bytes) before it, whole in one of them.
 */
import { type OrderedKey, orderedKeyBytes, writeOrderedKey } from "../../store/key-encoding.ts";
import { JournalDamaged } from "./journal.ts";

/** The first buffer is small, because thousands of realms may have one; later ones are larger. */
const bufferBytes_min = 4 * 1024;
const bufferBytes_max = 256 * 1024;
const lengthBytes = 4;

interface Part {
  readonly buffer: Uint8Array<ArrayBuffer>;
  used: number;
}

export class RecordPack {
  #parts: Part[] = [];
  #bytes = 0;
  #memoryBytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** Size of its buffers. */
  get memoryBytes(): number {
    return this.#memoryBytes;
  }

  /** Copies the record. @returns its size in the pack */
  add(record: Uint8Array): number {
    const bytes = lengthBytes + record.length;
    const part = this.#partFor(bytes);
    new DataView(part.buffer.buffer).setUint32(part.used, record.length, true);
    part.buffer.set(record, part.used + lengthBytes);
    part.used += bytes;
    this.#bytes += bytes;
    return bytes;
  }

  #partFor(bytes: number): Part {
    const last = this.#parts.at(-1);
    if (last !== undefined && last.used + bytes <= last.buffer.length) return last;
    const usual = last === undefined ? bufferBytes_min : Math.min(2 * last.buffer.length, bufferBytes_max);
    const part = { buffer: new Uint8Array(Math.max(usual, bytes)), used: 0 };
    this.#parts.push(part);
    this.#memoryBytes += part.buffer.length;
    return part;
  }

  /** Takes the first records, in buffers that nothing else uses. @param bytes where a record ends */
  take(bytes: number): Uint8Array<ArrayBuffer>[] {
    const taken: Uint8Array<ArrayBuffer>[] = [];
    let left = bytes;
    let whole = 0;
    for (const part of this.#parts) {
      if (part.used > left) break;
      taken.push(part.buffer.subarray(0, part.used));
      left -= part.used;
      this.#memoryBytes -= part.buffer.length;
      whole++;
    }
    this.#parts.splice(0, whole);
    const [rest] = this.#parts;
    // Records that are not yet durable stay in the buffer.
    if (rest !== undefined && left > 0) {
      taken.push(rest.buffer.slice(0, left));
      rest.buffer.copyWithin(0, left, rest.used);
      rest.used -= left;
    }
    this.#bytes -= bytes;
    return taken;
  }
}

/** The records of a pack, in order. They share its memory. */
export function* unpacked(pack: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const part of pack) {
    const view = new DataView(part.buffer, part.byteOffset, part.length);
    for (let start = 0; start < part.length; ) {
      const end = start + lengthBytes + view.getUint32(start, true);
      yield part.subarray(start + lengthBytes, end);
      start = end;
    }
  }
}

export interface WrittenRow {
  readonly ordered: OrderedKey;
  readonly bytes: Uint8Array | null;
}

export interface WrittenTable {
  readonly name: string;
  readonly written: readonly WrittenRow[];
}

/** A row that a turn wrote, in its last state, as it is read from a record. */
export interface RecordedWrite {
  readonly table: string;
  /** The key's bytes, one character for each (store/key-encoding.ts). */
  readonly key: string;
  /** null: removed. */
  readonly bytes: Uint8Array | null;
}

export interface TurnRecord {
  /** Counts the turns of a realm, from 1. */
  readonly turn: number;
  /** When it was appended, in milliseconds since 1970. */
  readonly at: number;
  readonly writes: readonly RecordedWrite[];
}

const format = 1;
const headBytes = 17;
const lengthBytes_max = 5;
const bufferBytes = 256 * 1024;

/** Encodes records into one buffer, which the next record overwrites. */
export class RecordEncoder {
  #buffer = Buffer.allocUnsafeSlow(bufferBytes);
  #end = 0;

  /** @returns bytes that are valid until the next call */
  encode(turn: number, at: number, tables: Iterable<WrittenTable>): Uint8Array {
    // A large record is rare: its memory is not kept.
    if (this.#buffer.length > bufferBytes) this.#buffer = Buffer.allocUnsafeSlow(bufferBytes);
    this.#buffer[0] = format;
    this.#buffer.writeDoubleLE(turn, 1);
    this.#buffer.writeDoubleLE(at, 9);
    this.#end = headBytes;
    for (const { name, written } of tables) {
      this.#reserve(name.length);
      this.#length(name.length);
      this.#end += this.#buffer.write(name, this.#end, "latin1");
      this.#length(written.length);
      for (const row of written) this.#row(row);
    }
    return this.#buffer.subarray(0, this.#end);
  }

  #row({ ordered, bytes }: WrittenRow): void {
    this.#reserve(orderedKeyBytes(ordered) + (bytes?.length ?? 0));
    // The length of most keys takes one byte, and is known when the key is written.
    const isShort = typeof ordered === "number";
    if (!isShort) this.#length(ordered.length);
    const start = isShort ? this.#end + 1 : this.#end;
    this.#end = writeOrderedKey(ordered, this.#buffer, start);
    if (isShort) this.#buffer[start - 1] = this.#end - start;
    if (bytes === null) this.#length(0);
    else {
      this.#length(bytes.length + 1);
      this.#buffer.set(bytes, this.#end);
      this.#end += bytes.length;
    }
  }

  #length(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#buffer[this.#end++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#buffer[this.#end++] = rest;
  }

  /** Makes room for so many bytes with two lengths; a key writes up to 12 bytes beyond its end. */
  #reserve(bytes: number): void {
    const needed = this.#end + bytes + 2 * lengthBytes_max + 12;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed + (-needed & 3), 2 * this.#buffer.length));
    this.#buffer.copy(grown, 0, 0, this.#end);
    this.#buffer = grown;
  }
}

/**
 * The rows share the memory of the record.
 * @throws JournalDamaged when the bytes are not a whole record of this format
 */
export function decodeRecord(record: Uint8Array): TurnRecord {
  const source = sourceOf(record);
  const reader = new Reader(source, headBytes);
  const writes: RecordedWrite[] = [];
  while (!reader.isAtEnd) {
    const table = reader.text();
    for (let rowsLeft = reader.length(); rowsLeft > 0; rowsLeft--) {
      const key = reader.text();
      const marked = reader.length();
      writes.push({ table, key, bytes: marked === 0 ? null : reader.bytes(marked - 1) });
    }
  }
  return { turn: source.readDoubleLE(1), at: source.readDoubleLE(9), writes };
}

/**
 * When a record was appended, in milliseconds since 1970.
 * @throws JournalDamaged as `decodeRecord` does
 */
export function timeOf(record: Uint8Array): number {
  return sourceOf(record).readDoubleLE(9);
}

/**
 * The turn of a record.
 * @throws JournalDamaged as `decodeRecord` does
 */
export function turnOf(record: Uint8Array): number {
  return sourceOf(record).readDoubleLE(1);
}

/**
 * The rows of some tables only, without a look at the others. Removed rows are left out.
 * @throws JournalDamaged as `decodeRecord` does
 */
export function rowsOf(record: Uint8Array, isWanted: (table: string) => boolean): RecordedWrite[] {
  const reader = new Reader(sourceOf(record), headBytes);
  const found: RecordedWrite[] = [];
  while (!reader.isAtEnd) {
    const table = reader.text();
    const wanted = isWanted(table);
    for (let rowsLeft = reader.length(); rowsLeft > 0; rowsLeft--) {
      const key = wanted ? reader.text() : reader.skip(reader.length());
      const marked = reader.length();
      if (marked === 0) continue;
      if (key === null) reader.skip(marked - 1);
      else found.push({ table, key, bytes: reader.bytes(marked - 1) });
    }
  }
  return found;
}

/** @throws JournalDamaged when it is not a record of this format */
function sourceOf(record: Uint8Array): Buffer {
  const source = Buffer.from(record.buffer, record.byteOffset, record.length);
  if (source[0] === format && source.length >= headBytes) return source;
  throw new JournalDamaged(`A record has format ${source[0]}, not ${format}: a newer program wrote it.`);
}

class Reader {
  readonly #record: Buffer;
  #position: number;

  constructor(record: Buffer, position: number) {
    this.#record = record;
    this.#position = position;
  }

  get isAtEnd(): boolean {
    return this.#position === this.#record.length;
  }

  length(): number {
    let value = 0;
    for (let shift = 0; shift < 7 * lengthBytes_max; shift += 7) {
      const byte = this.#record[this.#position++];
      if (byte === undefined) throw cutOff();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw cutOff();
  }

  text(): string {
    const length = this.length();
    const start = this.#advance(length);
    return this.#record.toString("latin1", start, start + length);
  }

  bytes(length: number): Uint8Array {
    const start = this.#advance(length);
    return this.#record.subarray(start, start + length);
  }

  skip(length: number): null {
    this.#advance(length);
    return null;
  }

  #advance(length: number): number {
    const start = this.#position;
    this.#position += length;
    if (this.#position > this.#record.length) throw cutOff();
    return start;
  }
}

function cutOff(): JournalDamaged {
  return new JournalDamaged("A record is not complete, although its checksum is right.");
}
