/**
 * Several records in few buffers, which are handed to another thread as they are: each record with its length (4 bytes)
 * before it, whole in one of them.
 */

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
    // What is not durable yet stays, so only a part of a buffer goes.
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
