/**
 * Notifies observers about the rows of a table that a turn wrote, after the flush (M1) and once per turn. Used for work
 * outside the store that a row causes, such as sending an email, so that nothing polls.
 */
import type { TableName } from "../../schemas/records.ts";
import type { Delta, Follower } from "../store/projections/projection.ts";

type Observer = (deltas: readonly Delta[]) => void;

export class Observers implements Follower {
  readonly #byTable = new Map<TableName, { readonly observer: Observer; deltas: Delta[] }>();
  #hasNews = false;

  /** One observer per table. */
  observe(table: TableName, observer: Observer): void {
    this.#byTable.set(table, { observer, deltas: [] });
  }

  /** A command wrote or removed a row. */
  apply(delta: Delta): void {
    const entry = this.#byTable.get(delta.table);
    if (entry === undefined) return;
    entry.deltas.push(delta);
    this.#hasNews = true;
  }

  /** Called when the turn is on disk. */
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
