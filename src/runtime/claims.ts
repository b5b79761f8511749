/** Requests under an Idempotency-Key that are being carried out: whoever repeats one waits for its answer (D25). */
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { AskResult, IdempotencyClaim } from "./entry.ts";
import { type IdempotencyKeys, keyReused } from "./idempotency.ts";

type Settle = (result: AskResult) => void;

export class Claims {
  readonly #keys: IdempotencyKeys;
  readonly #running = new Map<string, { readonly paramsHash: string; readonly repeats: Settle[] }>();

  constructor(keys: IdempotencyKeys) {
    this.#keys = keys;
  }

  /** How a request was answered that came under this key before; a refusal if it had other parameters; null: it is new, or not over. */
  kept(claim: IdempotencyClaim, now: number): AskResult | null {
    return this.#keys.find(claim, now);
  }

  /**
   * A kept answer is given whatever the state of the server; `refusal` says why nothing new may be carried out.
   * @returns how to settle the request that is to be carried out; null: it is answered, or will be with the first one
   */
  admit(claim: IdempotencyClaim, now: number, refusal: AskResult | null, settle: Settle): Settle | null {
    const name = `${claim.userId}:${claim.keyHash}`;
    const running = this.#running.get(name);
    if (running !== undefined) {
      if (running.paramsHash !== claim.paramsHash) settle(keyReused());
      else if (running.repeats.length >= limits.idempotency_waiters_max) settle(refuse.overloaded());
      else running.repeats.push(settle);
      return null;
    }
    const kept = this.#keys.find(claim, now);
    const known = kept ?? refusal;
    if (known !== null) {
      settle(known);
      return null;
    }
    const repeats: Settle[] = [];
    this.#running.set(name, { paramsHash: claim.paramsHash, repeats });
    return (result) => {
      this.#running.delete(name);
      settle(result);
      for (const repeat of repeats) repeat(result);
    };
  }
}
