/**
 * Requests whose answer comes in a later turn (a large subscription, a topic deletion). Bounded in time: whoever was to answer
 * may have died (M6), and nobody waits for ever (S3).
 */
import type { Ticket } from "../../actors/effects.ts";
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { Entry } from "./entry.ts";
import type { TimerWheel } from "./wheel.ts";

export class Tickets {
  readonly #wheel: TimerWheel;
  readonly #waiting = new Map<Ticket, Entry>();
  #last = 0;

  constructor(wheel: TimerWheel) {
    this.#wheel = wheel;
  }

  next(): Ticket {
    this.#last++;
    return this.#last;
  }

  wait(ticket: Ticket, entry: Entry): void {
    this.#waiting.set(ticket, entry);
    this.#wheel.set(timerName(ticket), limits.deferred_answer_ms_max, () => {
      this.take(ticket)?.settle?.(refuse.internalError());
    });
  }

  get(ticket: Ticket): Entry | undefined {
    return this.#waiting.get(ticket);
  }

  take(ticket: Ticket): Entry | undefined {
    const entry = this.#waiting.get(ticket);
    this.#waiting.delete(ticket);
    this.#wheel.cancel(timerName(ticket));
    return entry;
  }

  /** The server goes away: whoever still waits repeats the request elsewhere or later. */
  refuseAll(): void {
    for (const entry of this.#waiting.values()) entry.settle?.(refuse.shuttingDown());
    this.#waiting.clear();
  }
}

function timerName(ticket: Ticket): string {
  return `ticket:${ticket}`;
}
