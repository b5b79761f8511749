/** The archive of a journal's records (src/durability/archive/), which the journal keeps until they are copied. */
import type { RecordNumber } from "./journal.ts";

export interface JournalArchive {
  /** The journal keeps the records after this one. */
  readonly keepsAfter: RecordNumber;
  appended(recordBytes: number): void;
  /** Records up to here are durable. */
  durableUpTo(position: RecordNumber): void;
  /** The stores have all records up to here. */
  storedUpTo(position: RecordNumber): void;
  /** An organization was opened: from now on its store has the present form. */
  opened(realmId: number): void;
  /** Sets the listener for growth of `keepsAfter`. */
  onProgress(listener: () => void): void;
  /** Resolves after a bounded time. Everything that was appended must be durable. */
  close(): Promise<void>;
}
