/**
 * Delivers rows a few at a time: all emails of an organization, or all messages for one receiver. It tracks which rows
 * are due, and which deliveries run until their row shows the outcome.
 */
export interface DeliveryQueueRow {
  readonly dueAt: number;
  /** Number of failed attempts. */
  readonly attempts: number;
}

export interface DeliveryQueueOptions<R extends DeliveryQueueRow> {
  readonly now: () => number;
  /** Rows from an id on, ascending. */
  readonly read: (start: number, limit: number) => readonly { readonly id: number; readonly row: R }[];
  readonly waitingMax: number;
  readonly concurrentMax: number;
  /** Delivers one row. Its row changes or is removed afterwards, which makes room for the next. */
  readonly deliver: (id: number) => void;
}

export class DeliveryQueue<R extends DeliveryQueueRow> {
  readonly #options: DeliveryQueueOptions<R>;
  /** Attempt number by id, of rows that are due but not started. */
  readonly #waiting = new Map<number, number>();
  /** Attempt number by id, of deliveries that run until their row shows the outcome. */
  readonly #busy = new Map<number, number>();
  /** Id from which to read more rows when nothing is waiting; null if all due rows are known. */
  #unreadFrom: number | null = 0;

  constructor(options: DeliveryQueueOptions<R>) {
    this.#options = options;
  }

  /** Nothing is due or running, so the queue can be dropped. */
  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.#busy.size === 0 && this.#unreadFrom === null;
  }

  /**
   * A turn wrote or removed a row. If this notification is late, the next attempt of a failed row may be due already.
   */
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
      this.#options.deliver(id);
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
