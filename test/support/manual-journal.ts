/** A journal in memory whose flushes the test decides: what is appended becomes durable when it calls `flush`. */
import type { Journal, Recorded, RecordNumber } from "../../src/durability/journal/journal.ts";

export class ManualJournal implements Journal {
  /** Everything that was appended, durable or not. */
  readonly records: Recorded[] = [];
  #durable: RecordNumber = 0;
  #released: RecordNumber = 0;
  #listener: () => void = () => undefined;

  get appended(): RecordNumber {
    return this.records.length;
  }

  get durable(): RecordNumber {
    return this.#durable;
  }

  get released(): RecordNumber {
    return this.#released;
  }

  get unflushedBytes(): number {
    return this.records.slice(this.#durable).reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  append(realmId: number, record: Uint8Array): RecordNumber {
    this.records.push({ position: this.records.length + 1, realmId, bytes: Uint8Array.from(record) });
    return this.records.length;
  }

  together(work: () => void): void {
    work();
  }

  onDurable(listener: () => void): void {
    this.#listener = listener;
  }

  /** @param upTo by default everything */
  flush(upTo: RecordNumber = this.appended): void {
    this.#durable = upTo;
    this.#listener();
  }

  release(upTo: RecordNumber): void {
    this.#released = upTo;
  }

  close(): Promise<void> {
    this.flush();
    return Promise.resolve();
  }
}
