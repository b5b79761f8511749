/**
 * A frame of a segment: a header of 40 bytes, the record, and padding to a multiple of 8. The main thread begins a frame
 * with what it knows, the journal thread finishes it in place. Besides records there are two marks without a record:
 * `durable` is written when nothing follows at once, `sealed` when the journal continues in the next segment. Both show
 * a reader that the records before them were durable; the next frame overwrites a `durable` mark.
 */
import { crc32c } from "@node-rs/crc32";
import type { RecordNumber } from "./journal.ts";

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
