/**
 * The journal makes turns durable (docs/adr/0009-journal.md): a record for each turn, of all organizations of the
 * process, in one order. A record is durable when `durable` has reached its position; only then may anything leave that
 * shows the turn (M1). test/journal/contract.ts holds what every implementation promises.
 */

/** The number of a record in the journal: 1 for the first one ever, without gaps. */
export type RecordNumber = number;

/** A record that was read back. */
export interface Recorded {
  readonly position: RecordNumber;
  readonly realmId: number;
  readonly bytes: Uint8Array;
}

export interface Journal {
  /** The last record that was appended; 0 if there is none. */
  readonly appended: RecordNumber;
  /** Every record up to here survives a crash. */
  readonly durable: RecordNumber;
  /** Size of the records that were appended and are not durable yet. */
  readonly unflushedBytes: number;
  /** Never waits. The bytes are copied, so the caller may reuse them. */
  append(realmId: number, record: Uint8Array): RecordNumber;
  /** Runs `work`. Records that it appends may be handed over, and begin to become durable, when it ends. */
  together(work: () => void): void;
  /**
   * Sets the listener for growth of `durable`. It is called in a turn of the event loop of its own, never inside
   * `append`.
   */
  onDurable(listener: () => void): void;
  /** Everything up to here is in the stores (checkpointed): the journal may forget it. */
  release(upTo: RecordNumber): void;
  /** Resolves when every appended record is durable and the files are closed. */
  close(): Promise<void>;
}

/** The journal cannot go on: the disk failed, or another process took it over. The process must end (M5). */
export class JournalLost extends Error {
  override readonly name = "JournalLost";
  readonly reason: "failed" | "takenOver";

  constructor(reason: "failed" | "takenOver", message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** A record that was acknowledged cannot be read back. */
export class JournalDamaged extends Error {
  override readonly name = "JournalDamaged";
}
