/**
 * The rows of a table that go out one after the other, a few at a time: all mails of an organization, or what waits for one
 * receiver. Knows what is due, and what is under way until its row says what became of it.
 */
export interface LaneRow {
  readonly dueAt: number;
  /** That failed; one more with each outcome that keeps the row. */
  readonly attempts: number;
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
  /** Due and not yet handed over: which attempt it is, by id. */
  readonly #waiting = new Map<number, number>();
  /** Handed over, until the row says what became of that attempt. */
  readonly #busy = new Map<number, number>();
  /** Where to go on reading rows when nothing waits; null: all that is due is known. */
  #unreadFrom: number | null = 0;

  constructor(options: LaneOptions<R>) {
    this.#options = options;
  }

  /** Nothing is due and nothing under way: it can be forgotten. */
  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.#busy.size === 0 && this.#unreadFrom === null;
  }

  /** A turn wrote or removed a row. Where it comes late, the next attempt of one that failed just now may be due already. */
  noticed(id: number, row: R | null): void {
    if (row === null || !this.#isDue(row)) {
      this.#busy.delete(id);
      this.#waiting.delete(id);
      return;
    }
    if (this.#busy.get(id) === row.attempts) return;
    this.#busy.delete(id);
    this.#wait(id, row.attempts);
  }

  #isDue({ dueAt }: R): boolean {
    return dueAt <= this.#options.now();
  }

  /** Memory is bounded: rows that do not fit are read again when there is room. */
  #wait(id: number, attempt: number): void {
    if (this.#waiting.size < this.#options.waitingMax) this.#waiting.set(id, attempt);
    else this.#unreadFrom = Math.min(this.#unreadFrom ?? id, id);
  }

  handOver(): void {
    while (this.#busy.size < this.#options.concurrentMax) {
      const next = this.#next();
      if (next === undefined) return;
      const [id, attempt] = next;
      this.#waiting.delete(id);
      this.#busy.set(id, attempt);
      this.#options.carry(id);
    }
  }

  #next(): readonly [id: number, attempt: number] | undefined {
    while (this.#waiting.size === 0 && this.#unreadFrom !== null) this.#read(this.#unreadFrom);
    const [next] = this.#waiting;
    return next;
  }

  #read(start: number): void {
    const limit = this.#options.waitingMax;
    const rows = this.#options.read(start, limit);
    const last = rows.at(-1);
    this.#unreadFrom = rows.length < limit || last === undefined ? null : last.id + 1;
    for (const { id, row } of rows) {
      if (this.#isDue(row) && !this.#busy.has(id)) this.#waiting.set(id, row.attempts);
    }
  }
}
