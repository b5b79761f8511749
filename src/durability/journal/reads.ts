/**
 * What a read has seen: it waits for the turns that it shows, and for no others (M9). Somebody who reads the users does
 * not wait for the messages that others are posting. Only synchronous reads can be watched; the others wait for
 * everything.
 */
import type { TableName } from "../../../schemas/records.ts";
import type { Position } from "./journal.ts";

export class Reads {
  /** The record that wrote a table last. */
  readonly #writtenAt = new Map<TableName, Position>();
  #seen: Position = 0;
  #isWatched = false;

  wrote(tables: Iterable<TableName>, position: Position): void {
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
  saw(table: TableName): void {
    if (!this.#isWatched) return;
    const position = this.#writtenAt.get(table);
    if (position !== undefined && position > this.#seen) this.#seen = position;
  }

  sawAny(tables: readonly TableName[]): void {
    if (!this.#isWatched) return;
    for (const table of tables) this.saw(table);
  }

  /**
   * The last record that wrote something which was read since `begin`; 0 if none did, null if the read was not watched.
   */
  get seen(): Position | null {
    return this.#isWatched ? this.#seen : null;
  }
}
