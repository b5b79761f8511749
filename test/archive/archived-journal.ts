/** A journal and its archive without threads: each step happens when a test says so, in small files. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ArchiveWriter } from "../../src/durability/archive/archive-writer.ts";
import type { RecordNumber } from "../../src/durability/journal/journal.ts";
import { takeOver } from "../../src/durability/journal/journal-writer.ts";
import { beginFrame, frameBytes, frameMemory, RecordEncoder } from "../../src/durability/journal/record.ts";
import { recoverJournal } from "../../src/durability/journal/recovery.ts";
import { SegmentWriter } from "../../src/durability/journal/segment-writer.ts";
import { removeSpares } from "../../src/durability/journal/segments.ts";
import { type Teardown, temporaryFolder } from "../support/server.ts";

const sizes = { segmentBytes: 2048, sparesMax: 2, spareStepBytes: 1024 };
export const archiveSizes = { fileBytes: 4096, smallFilesMax: 5 };
const encoder = new RecordEncoder();

export function recordOf(position: RecordNumber): Uint8Array {
  const row = { ordered: position, bytes: Buffer.alloc((position * 37) % 400, position & 0xff) };
  return new Uint8Array(encoder.encode(position, 1000 + position, [{ name: "x", written: [row] }]));
}

/** A data folder with a journal, and its archive. */
export class World {
  readonly dataDir: string;
  readonly archive: string;
  readonly journalFolder: string;
  #journal: SegmentWriter;
  #writer: ArchiveWriter;
  #end: RecordNumber;
  /** The archive has said that it has these. */
  archived: RecordNumber = 0;
  isFresh = false;

  constructor(t: Teardown) {
    const folder = temporaryFolder(t, { inMemory: true });
    this.dataDir = join(folder, "data");
    this.archive = join(folder, "archive");
    this.journalFolder = join(this.dataDir, "journal");
    mkdirSync(this.journalFolder, { recursive: true });
    mkdirSync(this.archive);
    [this.#journal, this.#end] = this.#open();
    this.#writer = this.#newWriter();
  }

  #newWriter(): ArchiveWriter {
    return new ArchiveWriter(
      { archive: this.archive, dataDir: this.dataDir, journal: this.journalFolder },
      archiveSizes,
    );
  }

  #open(): [SegmentWriter, RecordNumber] {
    const { writer, before } = takeOver(this.journalFolder);
    const { segments, end, released } = recoverJournal(this.journalFolder, before);
    removeSpares(this.journalFolder);
    return [
      new SegmentWriter({ folder: this.journalFolder, epoch: writer.epoch, segments, end, released, sizes }),
      end,
    ];
  }

  get writer(): ArchiveWriter {
    return this.#writer;
  }

  get end(): RecordNumber {
    return this.#end;
  }

  write(count: number): void {
    for (let left = count; left > 0; left--) {
      const record = recordOf(++this.#end);
      const run = new Uint8Array(frameBytes(record.length));
      beginFrame(frameMemory(run), 0, 1 + (this.#end % 3), record);
      this.#journal.write([run]);
    }
    this.#journal.mark();
  }

  copy(): void {
    this.archived = this.#writer.copy(this.#end, this.isFresh, () => undefined).upTo;
    this.isFresh = false;
  }

  /** The journal forgets what was archived, or more. */
  release(upTo: RecordNumber): void {
    while (this.#journal.tidy(upTo));
  }

  /** The process is killed, and starts again. */
  restart(): void {
    [this.#journal, this.#end] = this.#open();
    this.#writer = this.#newWriter();
  }
}
