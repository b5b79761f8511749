/**
 * The record of a turn: its number, its time, and the last state of each row that it wrote. It is encoded once, and is
 * the unit of durability, of checkpoints and of backups (docs/adr/0009-journal.md).
 */

/** A row that a turn wrote, in its last state. */
export interface RecordedWrite {
  /** The table's name on disk. */
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
const headBytes = 1 + 8 + 8 + 4;
const removed = 0xffff_ffff;
/** The parts of a write besides its texts and bytes: lengths of the table's name, the key and the row. */
const writeHeadBytes = 1 + 2 + 4;

let buffer = Buffer.alloc(64 * 1024);

/** @returns bytes that are valid until the next call */
export function encodeRecord(turn: number, at: number, writes: readonly RecordedWrite[]): Uint8Array {
  let size = headBytes;
  for (const { table, key, bytes } of writes) {
    size += writeHeadBytes + table.length + key.length + (bytes?.length ?? 0);
  }
  if (size > buffer.length) buffer = Buffer.alloc(2 * size);
  buffer.writeUInt8(format, 0);
  buffer.writeDoubleLE(turn, 1);
  buffer.writeDoubleLE(at, 9);
  let offset = buffer.writeUInt32LE(writes.length, 17);
  for (const { table, key, bytes } of writes) {
    offset = buffer.writeUInt8(table.length, offset);
    offset += buffer.write(table, offset, "latin1");
    offset = buffer.writeUInt16LE(key.length, offset);
    offset += buffer.write(key, offset, "latin1");
    offset = buffer.writeUInt32LE(bytes?.length ?? removed, offset);
    if (bytes === null) continue;
    buffer.set(bytes, offset);
    offset += bytes.length;
  }
  return buffer.subarray(0, offset);
}

/** @throws Error when the bytes are of another program */
export function decodeRecord(bytes: Uint8Array): TurnRecord {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (source.readUInt8(0) !== format) throw new Error(`a record has format ${source.readUInt8(0)}, not ${format}`);
  const count = source.readUInt32LE(17);
  const writes: RecordedWrite[] = [];
  let at = headBytes;
  const text = (length: number) => {
    at += length;
    return source.toString("latin1", at - length, at);
  };
  for (let index = 0; index < count; index++) {
    const table = text(source.readUInt8(at++));
    at += 2;
    const key = text(source.readUInt16LE(at - 2));
    const length = source.readUInt32LE(at);
    at += 4;
    const isRemoved = length === removed;
    writes.push({ table, key, bytes: isRemoved ? null : source.subarray(at, at + length) });
    if (!isRemoved) at += length;
  }
  return { turn: source.readDoubleLE(1), at: source.readDoubleLE(9), writes };
}
