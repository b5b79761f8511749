/** A journal in files without its thread: each step happens when a test says so, in small segments. */

import type { Recorded, RecordNumber } from "../../src/durability/journal/journal.ts";
import { takeOver } from "../../src/durability/journal/journal-writer.ts";
import { beginFrame, frameBytes, frameMemory } from "../../src/durability/journal/record.ts";
import { type Recovery, recoverJournal } from "../../src/durability/journal/recovery.ts";
import { SegmentWriter } from "../../src/durability/journal/segment-writer.ts";
import { removeSpares } from "../../src/durability/journal/segments.ts";
import { sampleRecord } from "./contract.ts";

export const smallSegment = 2048;
const sizes = { segmentBytes: smallSegment, sparesMax: 2, spareStepBytes: 1024 };

export class SyncJournal {
  readonly recovered: Recovery;
  /** What was found at the start. */
  readonly found: readonly Recorded[];
  readonly #writer: SegmentWriter;
  #end: RecordNumber;
  #released: RecordNumber = 0;

  /** Takes the folder over, as `openFileJournal` does. */
  constructor(folder: string) {
    const { writer, before } = takeOver(folder);
    this.recovered = recoverJournal(folder, before);
    this.found = [...this.recovered.records()];
    removeSpares(folder);
    const { segments, end, released } = this.recovered;
    this.#writer = new SegmentWriter({ folder, epoch: writer.epoch, segments, end, released, sizes });
    this.#end = end;
  }

  get durable(): RecordNumber {
    return this.#writer.durable;
  }

  /** Records of these sizes, written and flushed together. */
  write(recordBytes: readonly number[]): Recorded[] {
    const records = recordBytes.map((bytes) => {
      const position = ++this.#end;
      return { position, realmId: (position % 5) + 1, bytes: sampleRecord(position, bytes) };
    });
    const run = new Uint8Array(recordBytes.reduce((sum, bytes) => sum + frameBytes(bytes), 0));
    let offset = 0;
    for (const { realmId, bytes } of records) {
      beginFrame(frameMemory(run), offset, realmId, bytes);
      offset += frameBytes(bytes.length);
    }
    this.#writer.write([run]);
    return records;
  }

  /** No record follows at once. */
  rest(): void {
    this.#writer.mark();
    while (this.#writer.tidy(this.#released));
  }

  release(upTo: RecordNumber): void {
    this.#released = upTo;
    this.rest();
  }

  close(): void {
    this.#writer.close(this.#released);
  }
}
