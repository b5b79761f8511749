/**
 * The rows of a table that go out one after the other, a few at a time: all mails of an organization, or what waits for one
 * receiver. Knows what is due, and what is under way until its row says what became of it.
 */
export interface LaneRow {
  readonly dueAt: number;
}

export interface LaneOptions<R extends LaneRow> {
  readonly now: () => number;
  /** Rows from an id on, ascending. */
  readonly read: (start: number, limit: number) => readonly { readonly id: number; readonly row: R }[];
  readonly waitingMax: number;
  readonly concurrentMax: number;
  /** Takes one out. Its row changes or goes afterwards, which makes room for the next. */
  readonly carry: (id: number) => void;
}

export class Lane<R extends LaneRow> {
  readonly #options: LaneOptions<R>;
  /** Due and not yet handed over. */
  readonly #waiting = new Set<number>();
  /** Handed over, until the row says what became of it. */
  readonly #busy = new Set<number>();
  /** Where to go on reading rows when nothing waits; null: all that is due is known. */
  #unreadFrom: number | null = 0;

  constructor(options: LaneOptions<R>) {
    this.#options = options;
  }

  /** Nothing is due and nothing under way: it can be forgotten. */
  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.#busy.size === 0 && this.#unreadFrom === null;
  }

  /** A turn wrote or removed a row. */
  noticed(id: number, row: R | null): void {
    const isDue = row !== null && this.#isDue(row);
    if (!isDue) {
      this.#busy.delete(id);
      this.#waiting.delete(id);
    } else if (!this.#busy.has(id)) this.#wait(id);
  }

  #isDue({ dueAt }: R): boolean {
    return dueAt <= this.#options.now();
  }

  /** Memory is bounded: rows that do not fit are read again when there is room. */
  #wait(id: number): void {
    if (this.#waiting.size < this.#options.waitingMax) this.#waiting.add(id);
    else this.#unreadFrom = Math.min(this.#unreadFrom ?? id, id);
  }

  handOver(): void {
    while (this.#busy.size < this.#options.concurrentMax) {
      const id = this.#next();
      if (id === undefined) return;
      this.#busy.add(id);
      this.#options.carry(id);
    }
  }

  #next(): number | undefined {
    while (this.#waiting.size === 0 && this.#unreadFrom !== null) this.#read(this.#unreadFrom);
    const [id] = this.#waiting;
    if (id !== undefined) this.#waiting.delete(id);
    return id;
  }

  #read(start: number): void {
    const limit = this.#options.waitingMax;
    const rows = this.#options.read(start, limit);
    const last = rows.at(-1);
    this.#unreadFrom = rows.length < limit || last === undefined ? null : last.id + 1;
    for (const { id, row } of rows) if (this.#isDue(row) && !this.#busy.has(id)) this.#waiting.add(id);
  }
}
