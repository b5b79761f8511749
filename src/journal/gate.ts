/**
 * The gate of a realm: what shows a turn leaves when the turn's record is durable (M1, M9). Memory is ahead of the disk
 * by the turns that are not flushed yet; nothing outside ever is. There is one gate, at the places where bytes leave.
 */
import type { Journal, Position } from "./journal.ts";

export interface Gate {
  /** Whether everything that the realm's memory shows is durable. */
  readonly isOpen: boolean;
  /** Runs `leave` once everything that the realm's memory shows now is durable: at once if it is, otherwise in order. */
  pass(leave: () => void): void;
}

/** For a store that flushes before a turn ends. */
export const openGate: Gate = { isOpen: true, pass: (leave) => leave() };

interface Waiting {
  readonly position: Position;
  readonly leave: () => void;
}

/** All gates of a process: one list of what waits, in the order of positions, because the journal has one order. */
export class JournalGates {
  readonly #journal: Journal;
  #waiting: Waiting[] = [];

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** Called when `durable` has grown. */
  opened(): void {
    const { durable } = this.#journal;
    let taken = 0;
    for (; taken < this.#waiting.length; taken++) {
      const next = this.#waiting[taken] as Waiting;
      if (next.position > durable) break;
      next.leave();
    }
    this.#waiting = this.#waiting.slice(taken);
  }

  wait(position: Position, leave: () => void): void {
    const last = this.#waiting.at(-1);
    if (last === undefined || last.position <= position) this.#waiting.push({ position, leave });
    else {
      // A realm that wrote nothing for a while waits for an earlier record than the others.
      const at = this.#waiting.findIndex((one) => one.position > position);
      this.#waiting.splice(at, 0, { position, leave });
    }
  }
}
