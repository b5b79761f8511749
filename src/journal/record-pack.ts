/** Several records in one buffer, which is handed to another thread as a whole: each with its length (4 bytes) before it. */

const startBytes = 64 * 1024;
const lengthBytes = 4;

export class RecordPack {
  #buffer = new Uint8Array(0);
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** Copies the record. @returns its size in the pack */
  add(record: Uint8Array): number {
    const end = this.#bytes + lengthBytes + record.length;
    if (end > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(end, startBytes, 2 * this.#buffer.length));
      grown.set(this.#buffer.subarray(0, this.#bytes));
      this.#buffer = grown;
    }
    new DataView(this.#buffer.buffer).setUint32(this.#bytes, record.length, true);
    this.#buffer.set(record, this.#bytes + lengthBytes);
    this.#bytes = end;
    return lengthBytes + record.length;
  }

  /** Takes the first records, in memory that nothing else uses. @param bytes where a record ends */
  take(bytes: number): Uint8Array<ArrayBuffer> {
    const taken = this.#buffer.slice(0, bytes);
    this.#buffer.copyWithin(0, bytes, this.#bytes);
    this.#bytes -= bytes;
    if (this.#bytes === 0) this.#buffer = new Uint8Array(0);
    return taken;
  }
}

/** The records of a pack, in order. They share its memory. */
export function* unpacked(pack: Uint8Array): Generator<Uint8Array> {
  const view = new DataView(pack.buffer, pack.byteOffset, pack.length);
  for (let start = 0; start < pack.length; ) {
    const end = start + lengthBytes + view.getUint32(start, true);
    yield pack.subarray(start + lengthBytes, end);
    start = end;
  }
}
