/**
 * Reads a journal's folder when its next owner starts. A torn tail is cut: a frame that is not whole, of a record that
 * no later frame knows to be durable. Everything else that is missing or changed is damage, because the record may have
 * been acknowledged. An owner's records end where the next owner began.
 */
import { closeSync, fdatasyncSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { JournalDamaged, type Recorded, type RecordNumber } from "./journal.ts";
import type { JournalWriterNote } from "./journal-writer.ts";
import {
  type Frame,
  type FrameMemory,
  frameAlignment,
  frameBytes,
  frameHeaderBytes,
  frameMemory,
  readFrame,
} from "./record.ts";
import {
  decodeHead,
  listSegments,
  type SegmentHead,
  type SegmentName,
  segmentFile,
  segmentHeadBytes,
} from "./segments.ts";

export interface Recovery {
  /** Every segment that is there, also those that hold nothing of use. */
  readonly segments: readonly SegmentHead[];
  /** The last record; 0 if there was never one. */
  readonly end: RecordNumber;
  /** Records up to here need not be kept. */
  readonly released: RecordNumber;
  /** The records that are still there, in order. To be read before `release` removes their segments. */
  records(): Iterable<Recorded>;
}

/** @throws JournalDamaged when records are missing that may have been acknowledged. Nothing has been changed then. */
export function recoverJournal(folder: string, before: JournalWriterNote | null): Recovery {
  const segments = listSegments(folder).map((name) => readHead(folder, name));
  const applied = before?.appliedUpTo ?? 0;
  // The last owner was removing the segments that it had applied; a power cut may keep any of them.
  const unapplied = segments.filter(({ start }) => start > applied);
  const released = Math.max(applied, ...segments.map((head) => head.released));
  const parts = partsOf(unapplied, released);
  const first = parts[0];
  if (first !== undefined && first.head.start > released + 1) {
    throw missing(folder, released + 1, first.head.start - 1, first.head);
  }
  let next = first?.head.start ?? 1;
  for (const part of parts) next = endOf(folder, part);
  next = Math.max(next, applied + 1);
  requireWhatWasNoted(folder, before, segments, next - 1);
  return {
    segments,
    end: next - 1,
    released,
    *records() {
      for (const { head, until } of parts) yield* new SegmentReader(folder, head).records(until ?? next);
    },
  };
}

/** A segment and where the one after it starts; null for the last one. */
export interface Part {
  readonly head: SegmentHead;
  readonly until: RecordNumber | null;
}

/** Leaves out segments that hold only what was released, or what an earlier owner wrote after it had lost the folder. */
export function partsOf(segments: readonly SegmentHead[], released: RecordNumber): Part[] {
  const counted = segments.filter((head) =>
    segments.every((other) => other.epoch <= head.epoch || other.start > head.start),
  );
  return counted
    .map((head, index) => ({ head, until: counted[index + 1]?.start ?? null }))
    .filter(({ until }) => until === null || until > released + 1);
}

/** @returns the position after the last record of a segment, whose records are durable now */
function endOf(folder: string, part: Part): RecordNumber {
  const reader = new SegmentReader(folder, part.head);
  let next = part.head.start;
  for (const { position } of reader.records(part.until)) next = position + 1;
  if (next === part.until) return next;
  const witness = reader.witness(next);
  if (witness?.kind === "sealed" && witness.position === next) throw reader.damaged("the segment after it is missing");
  if (witness !== null || part.until !== null) {
    throw reader.damaged(`record ${next} is not whole, and records after it are`);
  }
  return next;
}

/** @throws JournalDamaged; ENOENT when the segment was removed meanwhile */
export function readHead(folder: string, name: SegmentName): SegmentHead {
  const path = join(folder, segmentFile(name));
  const file = openSync(path, "r");
  try {
    const bytes = new Uint8Array(segmentHeadBytes);
    readSync(file, bytes, 0, bytes.length, 0);
    const head = decodeHead(bytes);
    if (head === null) throw damaged(path, 0, "its header is not whole");
    if (segmentFile(head) !== segmentFile(name)) throw damaged(path, 0, `it was ${segmentFile(head)}`);
    const { size } = fstatSync(file);
    if (size !== head.capacity) throw damaged(path, size, `it has ${size} bytes and should have ${head.capacity}`);
    return head;
  } finally {
    closeSync(file);
  }
}

class SegmentReader {
  readonly #path: string;
  readonly #head: SegmentHead;
  readonly #memory: FrameMemory;
  #offset = segmentHeadBytes;

  constructor(folder: string, head: SegmentHead) {
    this.#path = join(folder, segmentFile(head));
    this.#head = head;
    this.#memory = frameMemory(readDurably(this.#path, head.capacity));
  }

  /** The records in order, up to the first frame that is not the next one. */
  *records(until: RecordNumber | null): Iterable<Recorded> {
    for (let position = this.#head.start; position !== until; position++) {
      const frame = readFrame(this.#memory, this.#offset);
      // A segment that is used again holds frames of its past.
      if (frame?.kind !== "record" || frame.position !== position || frame.epoch !== this.#head.epoch) return;
      const start = this.#offset + frameHeaderBytes;
      this.#offset += frameBytes(frame.recordBytes);
      yield { position, realmId: frame.realmId, bytes: this.#memory.bytes.subarray(start, start + frame.recordBytes) };
    }
  }

  /** Looks in the rest of the segment for a frame that was written when record `next` was durable. */
  witness(next: RecordNumber): Frame | null {
    for (let offset = this.#offset; offset < this.#memory.bytes.length; offset += frameAlignment) {
      const frame = readFrame(this.#memory, offset);
      if (frame === null || frame.epoch !== this.#head.epoch) continue;
      // Only a segment that holds a record is used again, so the seal of an earlier use is no witness.
      const isSeal = frame.kind === "sealed" && frame.position > this.#head.start;
      if (isSeal || frame.durable >= next) return frame;
    }
    return null;
  }

  damaged(what: string): JournalDamaged {
    return damaged(this.#path, this.#offset, what);
  }
}

/**
 * Bytes that a process wrote and did not flush before it ended are in the system's memory. A power cut would lose them
 * after this process has shown them.
 */
function readDurably(path: string, bytes: number): Uint8Array {
  const file = openSync(path, "r");
  try {
    fdatasyncSync(file);
    const memory = new Uint8Array(bytes);
    for (let read = 0; read < bytes; ) {
      const more = readSync(file, memory, read, bytes - read, read);
      if (more === 0) throw damaged(path, read, "it ends here");
      read += more;
    }
    return memory;
  } catch (error) {
    if (error instanceof JournalDamaged) throw error;
    throw damaged(path, 0, `it cannot be read (${(error as Error).message})`, { cause: error });
  } finally {
    closeSync(file);
  }
}

/** The note of the last owner shows what must be there, even if its last segments are gone. */
function requireWhatWasNoted(
  folder: string,
  note: JournalWriterNote | null,
  segments: readonly SegmentHead[],
  end: RecordNumber,
) {
  if (note === null || note.appliedUpTo !== undefined) return;
  if (!segments.some(({ epoch }) => epoch >= note.epoch))
    throw new JournalDamaged(`${folder} has no segment of its last owner, ${note.epoch}. ${advice}`);
  if (note.endedAt !== undefined && note.endedAt > end) {
    throw new JournalDamaged(`${folder} ends with record ${end} and should end with record ${note.endedAt}. ${advice}`);
  }
}

const advice = "Put the missing files back, or restore a backup or, of an archive, a moment (restore --to).";

function missing(folder: string, from: RecordNumber, to: RecordNumber, before: SegmentHead): JournalDamaged {
  const place = join(folder, segmentFile(before));
  return new JournalDamaged(`Records ${from} to ${to} are missing before ${place}. ${advice}`);
}

function damaged(path: string, offset: number, what: string, options?: ErrorOptions): JournalDamaged {
  return new JournalDamaged(`${path} is damaged at offset ${offset}: ${what}. ${advice}`, options);
}
