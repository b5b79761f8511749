/**
 * Who wants to see the rows of a table that a turn wrote: told after the flush (M1), once per turn. For what the server does
 * outside itself because of a row, such as sending a mail: nobody polls.
 */
import type { TableName } from "../../schemas/records.ts";
import type { Delta } from "../store/projections/projection.ts";

type Observer = (deltas: readonly Delta[]) => void;

export class Observers {
  readonly #byTable = new Map<TableName, { readonly observer: Observer; deltas: Delta[] }>();
  #hasNews = false;

  /** One observer a table. */
  observe(table: TableName, observer: Observer): void {
    this.#byTable.set(table, { observer, deltas: [] });
  }

  /** A command wrote or removed a row. */
  note(delta: Delta): void {
    const entry = this.#byTable.get(delta.table);
    if (entry === undefined) return;
    entry.deltas.push(delta);
    this.#hasNews = true;
  }

  /** The turn is on disk. */
  publish(): void {
    if (!this.#hasNews) return;
    this.#hasNews = false;
    for (const entry of this.#byTable.values()) {
      const { deltas } = entry;
      if (deltas.length === 0) continue;
      entry.deltas = [];
      entry.observer(deltas);
    }
  }
}
