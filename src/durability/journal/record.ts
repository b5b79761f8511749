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
 *
 * A frame of a segment: a header of 40 bytes, the record, and padding to a multiple of 8. The main thread begins a
 * frame with what it knows, the journal thread finishes it in place. Besides records there are two marks without a
 * record: `durable` is written when nothing follows at once, `sealed` when the journal continues in the next segment.
 * Both show a reader that the records before them were durable; the next frame overwrites a `durable` mark.
 */

import { crc32c } from "@node-rs/crc32";
import { type OrderedKey, orderedKeyBytes, writeOrderedKey } from "../../store/codec.ts";
import { JournalDamaged, type RecordNumber } from "./journal.ts";

/** Offsets in the header. The checksum covers everything after it, up to the end of the record. */
const at = { checksum: 0, mark: 4, recordBytes: 8, realmId: 12, epoch: 16, position: 24, durable: 32 } as const;
export const frameHeaderBytes = 40;
export const frameAlignment = 8;

/** The byte 0xff is in no UTF-8 text, so a message cannot imitate a frame. */
const marks = { record: 0xff6a_7201, durable: 0xff6a_7202, sealed: 0xff6a_7203 } as const;
type FrameKind = keyof typeof marks;
const kinds = new Map(Object.entries(marks).map(([kind, mark]) => [mark as number, kind as FrameKind]));

/** Bytes with both of their views: making a view costs more than a look through it. */
export interface FrameMemory {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

export interface Frame {
  readonly kind: FrameKind;
  readonly recordBytes: number;
  readonly realmId: number;
  /** The epoch of the owner that wrote it. */
  readonly epoch: number;
  /** The number of its record; in a mark, that of the next record. */
  readonly position: RecordNumber;
  /** The last record that was durable when the frame was written. */
  readonly durable: RecordNumber;
}

export function frameMemory(bytes: Uint8Array): FrameMemory {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}

export function frameBytes(recordBytes: number): number {
  return Math.ceil((frameHeaderBytes + recordBytes) / frameAlignment) * frameAlignment;
}

/** Copies a record into memory that has room for its frame. */
export function beginFrame({ bytes, view }: FrameMemory, offset: number, realmId: number, record: Uint8Array): void {
  view.setUint32(offset + at.mark, marks.record, true);
  view.setUint32(offset + at.recordBytes, record.length, true);
  view.setUint32(offset + at.realmId, realmId, true);
  bytes.set(record, offset + frameHeaderBytes);
}

/** The length of the record of a frame that was begun. */
export function begunRecordBytes({ view }: FrameMemory, offset: number): number {
  return view.getUint32(offset + at.recordBytes, true);
}

export function finishFrame(memory: FrameMemory, offset: number, given: Pick<Frame, "epoch" | "position" | "durable">) {
  const { view } = memory;
  setInteger(view, offset + at.epoch, given.epoch);
  setInteger(view, offset + at.position, given.position);
  setInteger(view, offset + at.durable, given.durable);
  view.setUint32(offset + at.checksum, checksumOf(memory, offset, begunRecordBytes(memory, offset)), true);
}

export function encodeMark(kind: "durable" | "sealed", given: Pick<Frame, "epoch" | "position" | "durable">) {
  const memory = frameMemory(new Uint8Array(frameHeaderBytes));
  memory.view.setUint32(at.mark, marks[kind], true);
  finishFrame(memory, 0, given);
  return memory.bytes;
}

/** @returns null if there is no whole frame at the offset */
export function readFrame(memory: FrameMemory, offset: number): Frame | null {
  const { bytes, view } = memory;
  if (offset + frameHeaderBytes > bytes.length) return null;
  const kind = kinds.get(view.getUint32(offset + at.mark, true));
  if (kind === undefined) return null;
  const recordBytes = view.getUint32(offset + at.recordBytes, true);
  if (offset + frameHeaderBytes + recordBytes > bytes.length) return null;
  if (view.getUint32(offset + at.checksum, true) !== checksumOf(memory, offset, recordBytes)) return null;
  return {
    kind,
    recordBytes,
    realmId: view.getUint32(offset + at.realmId, true),
    epoch: getInteger(view, offset + at.epoch),
    position: getInteger(view, offset + at.position),
    durable: getInteger(view, offset + at.durable),
  };
}

function checksumOf({ bytes }: FrameMemory, offset: number, recordBytes: number): number {
  return crc32c(bytes.subarray(offset + at.mark, offset + frameHeaderBytes + recordBytes));
}

const half = 2 ** 32;

/** A safe integer in 8 bytes, without the cost of a bigint. */
export function setInteger(view: DataView, offset: number, value: number): void {
  view.setUint32(offset, value % half, true);
  view.setUint32(offset + 4, Math.floor(value / half), true);
}

export function getInteger(view: DataView, offset: number): number {
  return view.getUint32(offset, true) + view.getUint32(offset + 4, true) * half;
}

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
  /** The key's bytes, one character for each (store/codec.ts). */
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
/** A call that copies takes as long as a loop over so many bytes; most rows are shorter. */
const loopBytes_max = 24;

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
      this.#copy(bytes);
    }
  }

  #copy(bytes: Uint8Array): void {
    if (bytes.length > loopBytes_max) this.#buffer.set(bytes, this.#end);
    else for (let at = 0; at < bytes.length; at++) this.#buffer[this.#end + at] = bytes[at] as number;
    this.#end += bytes.length;
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
