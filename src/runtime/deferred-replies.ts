/**
 * Requests whose reply is sent in a later turn (a large subscription, a topic deletion). Each has a time limit: the
 * actor that should reply may have failed (M6), and no request waits forever (S3).
 */
import type { Ticket } from "../../schemas/answer.ts";
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { QueuedCommand } from "./queued-command.ts";
import type { VolatileTimers } from "./volatile-timers.ts";

export class DeferredReplies {
  readonly #volatileTimers: VolatileTimers;
  readonly #waiting = new Map<Ticket, QueuedCommand>();
  #last = 0;

  constructor(volatileTimers: VolatileTimers) {
    this.#volatileTimers = volatileTimers;
  }

  next(): Ticket {
    this.#last++;
    return this.#last;
  }

  wait(ticket: Ticket, queued: QueuedCommand): void {
    this.#waiting.set(ticket, queued);
    this.#volatileTimers.set(timerName(ticket), limits.deferred_answer_ms_max, () => {
      this.take(ticket)?.resolve?.(refuse.internalError());
    });
  }

  get(ticket: Ticket): QueuedCommand | undefined {
    return this.#waiting.get(ticket);
  }

  take(ticket: Ticket): QueuedCommand | undefined {
    const queued = this.#waiting.get(ticket);
    this.#waiting.delete(ticket);
    this.#volatileTimers.cancel(timerName(ticket));
    return queued;
  }

  /** The server is shutting down: waiting requests are rejected, and their clients retry later or elsewhere. */
  refuseAll(): void {
    for (const queued of this.#waiting.values()) queued.resolve?.(refuse.shuttingDown());
    this.#waiting.clear();
  }
}

function timerName(ticket: Ticket): string {
  return `ticket:${ticket}`;
}
