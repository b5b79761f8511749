/**
 * Hands records from the main thread to the journal thread through shared memory, without a copy beyond the one that the
 * caller must be given, and without waiting. A record lies in the ring as a frame that was begun, so the journal thread
 * finishes and writes it in place.
 */

import type { RecordNumber } from "./journal.ts";
import { beginFrame, begunRecordBytes, type FrameMemory, frameBytes, frameHeaderBytes, frameMemory } from "./record.ts";

export interface RingMemory {
  readonly control: SharedArrayBuffer;
  readonly frames: SharedArrayBuffer;
}

/**
 * Words of the control memory. Counters run modulo 2^32.
 * - head: bytes that were put into the ring; tail: bytes that are durable, so their place is free again
 * - durable: records that are durable; durableBytes: their size
 * - asleep: 1 while the journal thread waits
 * - noticed: 1 while a notice to the main thread is on its way
 * - closing: 1 when nothing more is put
 */
const word = { head: 0, tail: 1, durable: 2, durableBytes: 3, asleep: 4, noticed: 5, closing: 6 } as const;
const controlBytes = 64;
/** The position up to which records are released: two words, as a bigint. */
const releasedWord = 4;

/**
 * The first word of a place in the ring, where a finished frame has its checksum: a frame, a record outside of the ring,
 * or nothing up to the end of the ring.
 */
const place = { frame: 0, outside: 1, nothing: 2 } as const;

/** @param bytes a power of two */
export function createRing(bytes: number): RingMemory {
  return { control: new SharedArrayBuffer(controlBytes), frames: new SharedArrayBuffer(bytes) };
}

/** The main thread's end. */
export class RingProducer {
  readonly #words: Int32Array;
  readonly #wide: BigInt64Array;
  readonly #memory: FrameMemory;
  readonly #size: number;
  #head = 0;
  /** As it was when room was needed last. */
  #tail = 0;

  constructor({ control, frames }: RingMemory) {
    this.#words = new Int32Array(control);
    this.#wide = new BigInt64Array(control);
    this.#memory = frameMemory(new Uint8Array(frames));
    this.#size = frames.byteLength;
  }

  /** A larger record is handed over outside, so that the ring has room for each again. */
  get recordBytesMax(): number {
    return this.#size / 8;
  }

  /** The journal thread gets it with the next `publish`. @returns false if there is no room */
  put(realmId: number, record: Uint8Array): boolean {
    const offset = this.#reserve(frameBytes(record.length));
    if (offset === null) return false;
    this.#memory.view.setUint32(offset, place.frame, true);
    beginFrame(this.#memory, offset, realmId, record);
    return true;
  }

  /**
   * The same for a frame that is handed over by other means.
   * @param handOver is called if there is room
   */
  putOutside(handOver: () => void): boolean {
    const offset = this.#reserve(frameHeaderBytes);
    if (offset === null) return false;
    this.#memory.view.setUint32(offset, place.outside, true);
    handOver();
    return true;
  }

  release(upTo: RecordNumber): void {
    Atomics.store(this.#wide, releasedWord, BigInt(upTo));
    this.#wake();
  }

  /** Nothing is put after this. It publishes the rest. */
  end(): void {
    this.publish();
    Atomics.store(this.#words, word.closing, 1);
    this.#wake();
  }

  /** Takes a notice, so that the next one is sent, and reads how much is durable: both counts modulo 2^32. */
  takeNotice(): { readonly records: number; readonly bytes: number } {
    Atomics.store(this.#words, word.noticed, 0);
    const records = Atomics.load(this.#words, word.durable);
    return { records: records >>> 0, bytes: Atomics.load(this.#words, word.durableBytes) >>> 0 };
  }

  /** @returns the offset of a place of that size; null if there is no room */
  #reserve(bytes: number): number | null {
    const index = this.#head & (this.#size - 1);
    const rest = this.#size - index;
    const needed = bytes <= rest ? bytes : rest + bytes;
    if (!this.#hasRoom(needed)) {
      this.#tail = Atomics.load(this.#words, word.tail);
      if (!this.#hasRoom(needed)) return null;
    }
    this.#head = (this.#head + needed) | 0;
    if (needed === bytes) return index;
    this.#memory.view.setUint32(index, place.nothing, true);
    return 0;
  }

  #hasRoom(bytes: number): boolean {
    return ((this.#head - this.#tail) >>> 0) + bytes <= this.#size;
  }

  /** Hands over what was put. */
  publish(): void {
    Atomics.store(this.#words, word.head, this.#head);
    this.#wake();
  }

  #wake(): void {
    if (Atomics.exchange(this.#words, word.asleep, 0) === 1) Atomics.notify(this.#words, word.asleep);
  }
}

/** How much was taken from a ring. */
export interface Taken {
  /** Modulo 2^32, as the two others. */
  readonly ringBytes: number;
  readonly records: number;
  readonly recordsBytes: number;
}

/** The journal thread's end. */
export class RingConsumer {
  readonly #words: Int32Array;
  readonly #wide: BigInt64Array;
  readonly #memory: FrameMemory;
  readonly #size: number;
  /** End of what was taken. */
  #taken = 0;
  #records = 0;
  #recordsBytes = 0;
  #arrival: Promise<void> | null = null;

  constructor({ control, frames }: RingMemory) {
    this.#words = new Int32Array(control);
    this.#wide = new BigInt64Array(control);
    this.#memory = frameMemory(new Uint8Array(frames));
    this.#size = frames.byteLength;
  }

  get released(): RecordNumber {
    return Number(Atomics.load(this.#wide, releasedWord));
  }

  /** Something has arrived. */
  get hasMore(): boolean {
    return Atomics.load(this.#words, word.head) !== this.#taken;
  }

  /** The ring already has all that will be written. */
  get isEnding(): boolean {
    return Atomics.load(this.#words, word.closing) === 1;
  }

  /**
   * Everything that has arrived, in order.
   * @param outside the next frame that was handed over by other means
   * @returns frames one after the other in each run; no run if nothing has arrived
   */
  take(outside: () => Uint8Array): Uint8Array[] {
    const head = Atomics.load(this.#words, word.head);
    const { bytes, view } = this.#memory;
    const runs: Uint8Array[] = [];
    let at = this.#taken & (this.#size - 1);
    let begin = at;
    const continueAt = (next: number) => {
      if (at > begin) runs.push(bytes.subarray(begin, at));
      at = next;
      begin = next;
    };
    for (let left = (head - this.#taken) >>> 0; left > 0; ) {
      const from = at;
      const kind = view.getUint32(at, true);
      if (kind === place.nothing) continueAt(this.#size);
      else if (kind === place.outside) {
        continueAt(at + frameHeaderBytes);
        const frame = outside();
        this.#count(begunRecordBytes(frameMemory(frame), 0));
        runs.push(frame);
      } else {
        const recordBytes = begunRecordBytes(this.#memory, at);
        this.#count(recordBytes);
        at += frameBytes(recordBytes);
      }
      left -= at - from;
      if (at === this.#size) continueAt(0);
    }
    continueAt(at);
    this.#taken = head;
    return runs;
  }

  #count(recordBytes: number): void {
    this.#records = (this.#records + 1) | 0;
    this.#recordsBytes = (this.#recordsBytes + recordBytes) | 0;
  }

  get taken(): Taken {
    return { ringBytes: this.#taken, records: this.#records, recordsBytes: this.#recordsBytes };
  }

  /**
   * Everything that was taken until then is durable.
   * @returns whether the main thread needs a notice: none is on its way
   */
  done({ ringBytes, records, recordsBytes }: Taken): boolean {
    Atomics.store(this.#words, word.tail, ringBytes);
    Atomics.store(this.#words, word.durableBytes, recordsBytes);
    Atomics.store(this.#words, word.durable, records);
    return Atomics.exchange(this.#words, word.noticed, 1) === 0;
  }

  /** @param released what the caller knows to be released */
  waitForMore(released: RecordNumber): void {
    Atomics.store(this.#words, word.asleep, 1);
    const isIdle = Atomics.load(this.#words, word.head) === this.#taken && !this.isEnding && this.released === released;
    if (isIdle) Atomics.wait(this.#words, word.asleep, 1);
    else Atomics.store(this.#words, word.asleep, 0);
  }

  /** Resolves when something arrives; the event loop of the journal thread runs meanwhile. */
  async arrival(): Promise<void> {
    Atomics.store(this.#words, word.asleep, 1);
    if (this.hasMore || this.isEnding) {
      Atomics.store(this.#words, word.asleep, 0);
      return;
    }
    this.#arrival ??= this.#wakeUp();
    await this.#arrival;
  }

  async #wakeUp(): Promise<void> {
    await Atomics.waitAsync(this.#words, word.asleep, 1).value;
    this.#arrival = null;
  }
}
