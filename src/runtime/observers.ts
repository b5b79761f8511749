/**
 * Notifies observers about the rows of a table that a turn wrote, once it is durable (M1) and once per turn. Used for work
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

  /** @returns tells the observers what the turn wrote; null: it wrote nothing that they observe */
  take(): (() => void) | null {
    if (!this.#hasNews) return null;
    this.#hasNews = false;
    const taken = [...this.#byTable.values()].filter(({ deltas }) => deltas.length > 0);
    const news = taken.map(({ observer, deltas }) => ({ observer, deltas }));
    for (const entry of taken) entry.deltas = [];
    return () => {
      for (const { observer, deltas } of news) observer(deltas);
    };
  }
}
