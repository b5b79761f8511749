/**
 * Requests with an Idempotency-Key that are being processed. A repeated request waits for the answer of the first
 * (D25).
 */
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { type IdempotencyKeys, keyReused } from "./idempotency.ts";
import type { IdempotencyKey } from "./queued-command.ts";
import type { Reply } from "./results.ts";

type Resolve = (result: Reply) => void;

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
