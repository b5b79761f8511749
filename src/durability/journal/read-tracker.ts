/**
 * What a read has seen: it waits for the turns that it shows, and for no others (M9). Somebody who reads the users does
 * not wait for the messages that others are posting. Only synchronous reads can be watched; the others wait for
 * everything.
 */
import type { TableName } from "../../../schemas/records.ts";
import type { RecordNumber } from "./journal.ts";

export class ReadTracker {
  /** The record that wrote a table last. */
  readonly #writtenAt = new Map<TableName, RecordNumber>();
  #seen: RecordNumber = 0;
  #isWatched = false;

  noteWritten(tables: Iterable<TableName>, position: RecordNumber): void {
    for (const table of tables) this.#writtenAt.set(table, position);
  }

  /**
   * A read begins.
   * @param isGateOpen everything that memory shows is durable: what the read sees need not be watched
   */
  begin(isGateOpen: boolean): void {
    this.#seen = 0;
    this.#isWatched = !isGateOpen;
  }

  /** Called for each access to a table, or to something in memory that follows it. */
  noteRead(table: TableName): void {
    if (!this.#isWatched) return;
    const position = this.#writtenAt.get(table);
    if (position !== undefined && position > this.#seen) this.#seen = position;
  }

  noteReads(tables: readonly TableName[]): void {
    if (!this.#isWatched) return;
    for (const table of tables) this.noteRead(table);
  }

  /**
   * The last record that wrote something which was read since `begin`; 0 if none did, null if the read was not watched.
   */
  get newestRecord(): RecordNumber | null {
    return this.#isWatched ? this.#seen : null;
  }
}
