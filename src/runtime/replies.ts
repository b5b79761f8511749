/**
 * Requests whose reply is sent in a later turn (a large subscription, a topic deletion). Each has a time limit: the
 * actor that should reply may have failed (M6), and no request waits forever (S3).
 */
import type { Ticket } from "../../schemas/answer.ts";
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { type IdempotencyKeys, keyReused } from "./idempotency.ts";
import type { IdempotencyKey, QueuedCommand } from "./queued-command.ts";
import type { Reply } from "./results.ts";
import type { VolatileTimers } from "./volatile-timers.ts";

type Resolve = (result: Reply) => void;

/**
 * Requests with an Idempotency-Key that are being processed. A repeated request waits for the answer of the first
 * (D25).
 */
export class InFlightRequests {
  readonly #keys: IdempotencyKeys;
  readonly #running = new Map<string, { readonly paramsHash: string; readonly repeats: Resolve[] }>();

  constructor(keys: IdempotencyKeys) {
    this.#keys = keys;
  }

  /**
   * Returns the stored answer of an earlier request with this key, a rejection if its parameters differ, or null if the
   * key is new or its request is still running.
   */
  kept(idempotencyKey: IdempotencyKey, now: number): Reply | null {
    return this.#keys.find(idempotencyKey, now);
  }

  /**
   * A stored answer is returned whatever the state of the server; `refusal` says why nothing new may be executed.
   * @returns how to resolve the request if it must be executed; null if it is answered, or will be answered together
   *   with the first one
   */
  admit(idempotencyKey: IdempotencyKey, now: number, refusal: Reply | null, resolve: Resolve): Resolve | null {
    const name = `${idempotencyKey.userId}:${idempotencyKey.keyHash}`;
    const running = this.#running.get(name);
    if (running !== undefined) {
      if (running.paramsHash !== idempotencyKey.paramsHash) resolve(keyReused());
      else if (running.repeats.length >= limits.idempotency_waiters_max) resolve(refuse.overloaded());
      else running.repeats.push(resolve);
      return null;
    }
    const kept = this.#keys.find(idempotencyKey, now);
    const known = kept ?? refusal;
    if (known !== null) {
      resolve(known);
      return null;
    }
    const repeats: Resolve[] = [];
    this.#running.set(name, { paramsHash: idempotencyKey.paramsHash, repeats });
    return (result) => {
      this.#running.delete(name);
      resolve(result);
      for (const repeat of repeats) repeat(result);
    };
  }
}

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
