/**
 * Writes records to the segments of a journal: everything that is given at a time with one write and one flush for each
 * segment that it touches. Flushes of one segment may overlap; before a new segment, everything is flushed. It runs in
 * the journal thread (journal-thread.ts). Every error is the end of the journal (M5).
 */

import { flushFolderSync } from "../../store/folders.ts";
import { OwnershipLost } from "../../store/path-guard.ts";
import { JournalLost, type RecordNumber } from "./journal.ts";
import { JournalWriter } from "./journal-writer.ts";
import { begunRecordBytes, encodeMark, finishFrame, frameBytes, frameHeaderBytes, frameMemory } from "./record.ts";
import { type OpenSegment, type PoolSizes, type SegmentHead, SegmentPool, segmentHeadBytes } from "./segments.ts";

export interface WriterStart {
  readonly folder: string;
  readonly epoch: number;
  /** The segments that were found; they go when they are released. */
  readonly segments: readonly SegmentHead[];
  /** The last record that was found. */
  readonly end: RecordNumber;
  readonly released: RecordNumber;
  readonly sizes: PoolSizes;
}

/** A sealed segment needs room for its seal. */
const endBytes = frameHeaderBytes;
const pageBytes = 4096;

export class SegmentWriter {
  readonly #writer: JournalWriter;
  readonly #pool: SegmentPool;
  readonly #segmentBytes: number;
  /** Older segments, in order. */
  readonly #closed: SegmentHead[];
  #segment: OpenSegment;
  /** Where the next frames are written. */
  #offset = segmentHeadBytes;
  /** Finished frames that are not written yet. */
  #parts: Uint8Array[] = [];
  /** Where the segment ends with them. */
  #end = segmentHeadBytes;
  /** The last record that was finished. */
  #last: RecordNumber;
  #durable: RecordNumber;
  #released: RecordNumber;
  #isMarked = true;

  /** Every owner begins a segment of its own. @throws JournalLost */
  constructor({ folder, epoch, segments, end, released, sizes }: WriterStart) {
    this.#writer = new JournalWriter(folder, epoch);
    this.#pool = new SegmentPool(folder, epoch, sizes);
    this.#segmentBytes = sizes.segmentBytes;
    this.#closed = [...segments];
    this.#last = end;
    this.#durable = end;
    this.#released = released;
    this.#segment = this.#orLost(() => {
      const opened = this.#open(1, this.#segmentBytes);
      this.#writer.noteStart();
      return opened;
    });
  }

  /** Every record up to here survives a crash. */
  get durable(): RecordNumber {
    return this.#durable;
  }

  /**
   * Makes records durable.
   * @param runs frames that were begun, one after the other in each run
   * @throws JournalLost
   */
  write(runs: readonly Uint8Array[]): void {
    this.#orLost(() => {
      for (const run of runs) this.#add(run);
      this.#flush();
    });
  }

  /**
   * The same, with a flush that may overlap others and end before them or after them.
   * @returns resolves when the records are durable; rejects with JournalLost
   */
  async writeBeside(runs: readonly Uint8Array[]): Promise<void> {
    const flushed = this.#orLost(() => {
      for (const run of runs) this.#add(run);
      this.#writeParts();
      return this.#segment.flushBeside();
    });
    const last = this.#last;
    const fault = await flushed.then(
      () => null,
      (error: unknown) => ({ error }),
    );
    this.#orLost(() => {
      if (fault !== null) throw fault.error;
      // The flush began after all earlier records were written: it covers them, too.
      if (last > this.#durable) this.#noteDurable(last);
    });
  }

  /** Called when every record is durable and none follows at once. Not flushed: the mark is for the next start, and only a power cut takes it. */
  mark(): void {
    this.#orLost(() => this.#mark());
  }

  /**
   * Work that no record waits for, a piece at a time.
   * @param released records up to here need not be kept
   * @returns whether there may be more of it
   */
  tidy(released: RecordNumber): boolean {
    return this.#orLost(() => {
      this.#noteReleased(released);
      if (this.#forget()) return true;
      if (!this.#pool.lacksSpare || this.#offset < this.#segmentBytes / 2) return false;
      this.#pool.prepareStep();
      return true;
    });
  }

  /** @param released as for `tidy` */
  close(released: RecordNumber): void {
    this.#orLost(() => {
      this.#noteReleased(released);
      this.#mark();
      this.#segment.flush();
      this.#verify();
      this.#forget();
      this.#writer.noteEnd(this.#durable);
      this.#segment.close();
      this.#pool.close();
    });
  }

  #add(run: Uint8Array): void {
    const memory = frameMemory(run);
    let begin = 0;
    for (let at = 0; at < run.length; ) {
      const size = frameBytes(begunRecordBytes(memory, at));
      if (this.#end + size + endBytes > this.#segment.head.capacity) {
        if (at > begin) this.#parts.push(run.subarray(begin, at));
        this.#flush();
        this.#continueInNext(size);
        begin = at;
      }
      this.#last++;
      finishFrame(memory, at, { epoch: this.#writer.epoch, position: this.#last, durable: this.#durable });
      this.#end += size;
      at += size;
    }
    this.#parts.push(run.subarray(begin));
  }

  #flush(): void {
    if (this.#durable === this.#last) return;
    this.#writeParts();
    this.#segment.flush();
    this.#noteDurable(this.#last);
  }

  #writeParts(): void {
    this.#segment.write(this.#parts, this.#offset);
    this.#parts = [];
    this.#offset = this.#end;
    this.#isMarked = false;
  }

  /** Only the owner's records count: nothing is durable before this process has seen that it still is the owner. */
  #noteDurable(upTo: RecordNumber): void {
    this.#verify();
    this.#durable = upTo;
  }

  #verify(): void {
    this.#writer.verify();
    this.#segment.verify();
  }

  /** @param size of the frame that does not fit into the present segment */
  #continueInNext(size: number): void {
    const before = this.#segment;
    const needed = segmentHeadBytes + size + endBytes;
    const isLarge = needed > this.#segmentBytes;
    const capacity = isLarge ? Math.ceil(needed / pageBytes) * pageBytes : this.#segmentBytes;
    this.#segment = this.#open(before.head.sequence + 1, capacity);
    before.write([this.#encodeMark("sealed")], this.#offset);
    before.close();
    this.#closed.push(before.head);
    this.#offset = segmentHeadBytes;
    this.#end = segmentHeadBytes;
    this.#isMarked = true;
  }

  #open(sequence: number, capacity: number): OpenSegment {
    const start = this.#last + 1;
    return this.#pool.open({ epoch: this.#writer.epoch, sequence, start, capacity, released: this.#released });
  }

  #mark(): void {
    if (this.#isMarked) return;
    this.#segment.write([this.#encodeMark("durable")], this.#offset);
    this.#isMarked = true;
  }

  #encodeMark(kind: "durable" | "sealed"): Uint8Array {
    return encodeMark(kind, { epoch: this.#writer.epoch, position: this.#durable + 1, durable: this.#durable });
  }

  #noteReleased(upTo: RecordNumber): void {
    this.#released = Math.min(Math.max(this.#released, upTo), this.#durable);
  }

  /**
   * Lets segments go that hold nothing but released records. The header says so before they go.
   * @returns whether there were any
   */
  #forget(): boolean {
    const starts = [...this.#closed.slice(1), this.#segment.head].map(({ start }) => start);
    const kept = starts.findIndex((start) => start > this.#released + 1);
    const count = kept < 0 ? this.#closed.length : kept;
    if (count === 0) return false;
    this.#segment.noteReleased(this.#released);
    this.#verify();
    for (const head of this.#closed.splice(0, count)) this.#pool.recycle(head);
    flushFolderSync(this.#writer.folder);
    return true;
  }

  #orLost<R>(work: () => R): R {
    try {
      return work();
    } catch (error) {
      if (error instanceof JournalLost) throw error;
      const { message } = error as Error;
      if (error instanceof OwnershipLost) throw new JournalLost("takenOver", message, { cause: error });
      this.#stopIfTakenOver();
      const what = `The journal in ${this.#writer.folder} cannot be written: ${message}`;
      throw new JournalLost("failed", what, { cause: error });
    }
  }

  /** A newer owner removes what an earlier one needs, such as its spare segments: then that is why work failed. */
  #stopIfTakenOver(): void {
    try {
      this.#writer.verify();
    } catch (error) {
      if (error instanceof JournalLost) throw error;
    }
  }
}
