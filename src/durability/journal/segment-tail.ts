/**
 * Reads durable records from the segments of a running journal, for its archive. The caller knows what is durable, and
 * keeps the journal from using a segment again before its records were read. A pass reads only what is new.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { JournalDamaged, type RecordNumber } from "./journal.ts";
import { frameBytes, frameHeaderBytes, frameMemory, readFrame } from "./record.ts";
import { type Part, partsOf, readHead } from "./recovery.ts";
import { listSegments, segmentFile, segmentHeadBytes } from "./segments.ts";

/** Whole frames, one after the other. */
export interface Frames {
  readonly bytes: Uint8Array;
  readonly first: RecordNumber;
  readonly last: RecordNumber;
}

/** Where the next record begins. */
interface Place extends Part {
  readonly offset: number;
  readonly next: RecordNumber;
}

/** Most passes read less. */
const readBytes = 64 * 1024;

export class SegmentTail {
  readonly #folder: string;
  #place: Place | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Some of the records from `from` to `upTo`, and at least one.
   * @param bytesMax a larger record is returned alone
   * @throws JournalDamaged when the first of them is not there
   */
  read(from: RecordNumber, upTo: RecordNumber, bytesMax: number): Frames {
    const known = this.#place?.next === from ? this.#place : null;
    const frames = known === null ? null : this.#readAt(known, upTo, bytesMax);
    if (frames !== null) return frames;
    // A record that is not where the last one ended is in another segment.
    const found = this.#readAt(this.#placeOf(from), upTo, bytesMax);
    if (found === null) throw this.#missing(from);
    return found;
  }

  #readAt(place: Place, upTo: RecordNumber, bytesMax: number): Frames | null {
    const last = place.until === null ? upTo : Math.min(upTo, place.until - 1);
    const { bytes, next } = this.#framesFrom(place, last, bytesMax);
    if (bytes.length === 0) return null;
    this.#place = { ...place, offset: place.offset + bytes.length, next };
    return { bytes, first: place.next, last: next - 1 };
  }

  #placeOf(from: RecordNumber): Place {
    const parts = partsOf(this.#heads(), from - 1);
    const part = parts.findLast(({ head }) => head.start <= from);
    if (part === undefined) throw this.#missing(from);
    const start = { ...part, offset: segmentHeadBytes, next: part.head.start };
    if (from === start.next) return start;
    const before = this.#framesFrom(start, from - 1, part.head.capacity);
    if (before.next !== from) throw this.#missing(from);
    return { ...part, offset: start.offset + before.bytes.length, next: before.next };
  }

  #heads() {
    return listSegments(this.#folder).flatMap((name) => {
      try {
        return [readHead(this.#folder, name)];
      } catch (error) {
        // It held only what was released, and was removed after it was listed.
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
        throw error;
      }
    });
  }

  /**
   * Whole frames up to a record; none if the segment was removed.
   * @returns `next`: the position after the last of them
   */
  #framesFrom({ head, offset, next }: Place, last: RecordNumber, bytesMax: number) {
    const file = openIfThere(join(this.#folder, segmentFile(head)));
    if (file === null) return { bytes: new Uint8Array(0), next };
    try {
      let memory = frameMemory(readUpTo(file, offset, Math.min(readBytes, head.capacity - offset)));
      let end = 0;
      let position = next;
      while (position <= last && end < bytesMax) {
        const frame = readFrame(memory, end);
        if (frame === null) {
          const more = Math.min(2 * memory.bytes.length, head.capacity - offset);
          if (more <= memory.bytes.length) break;
          memory = frameMemory(readUpTo(file, offset, more));
          continue;
        }
        if (frame.kind !== "record" || frame.position !== position || frame.epoch !== head.epoch) break;
        const frameEnd = end + frameBytes(frame.recordBytes);
        if (position > next && frameEnd > bytesMax) break;
        end = frameEnd;
        position++;
      }
      return { bytes: memory.bytes.subarray(0, end), next: position };
    } finally {
      closeSync(file);
    }
  }

  #missing(position: RecordNumber): JournalDamaged {
    return new JournalDamaged(`${this.#folder} does not have record ${position} any more.`);
  }
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

function readUpTo(file: number, offset: number, bytes: number): Uint8Array {
  const memory = new Uint8Array(Math.max(bytes, frameHeaderBytes));
  let read = 0;
  for (;;) {
    const more = readSync(file, memory, read, bytes - read, offset + read);
    read += more;
    if (more === 0 || read === bytes) return memory.subarray(0, read);
  }
}
