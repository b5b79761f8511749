/**
 * The first answer of an Idempotency-Key (D25): written with what the command that it names writes, so that a
 * crash leaves both or neither. 2xx and decided 4xx are kept, never 429 or 5xx. Kept for a time, bounded per person.
 */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { damageIn } from "../store/damage.ts";
import type { Environment } from "../store/environment.ts";
import { type AskResult, type IdempotencyClaim, statusOf } from "./entry.ts";

export interface KeptAnswer {
  readonly claim: IdempotencyClaim;
  readonly status: number;
  readonly body: string;
}

export class IdempotencyKeys {
  readonly #environment: Environment;
  /** Rows per person, counted once and then kept up. */
  readonly #counts = new Map<number, number>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** The kept answer, a refusal when the key came with other parameters, or null: carry it out. */
  find(claim: IdempotencyClaim, now: number): AskResult | null {
    const row = this.#environment.get("idempotency", [claim.userId, claim.keyHash]);
    if (row === undefined || now - row.at > limits.idempotency_kept_ms) return null;
    if (row.paramsHash !== claim.paramsHash) return keyReused();
    return JSON.parse(row.body) as AskResult;
  }

  /** null: an answer of its kind, or over the bound, is not kept. */
  answerToKeep(claim: IdempotencyClaim, result: AskResult): KeptAnswer | null {
    const status = statusOf(result);
    const body = JSON.stringify(result);
    if (status === 429 || status >= 500 || body.length > limits.idempotency_answer_bytes_max) return null;
    return { claim, status, body };
  }

  /** Only inside the turn's transaction. */
  keep({ claim, status, body }: KeptAnswer, now: number): void {
    const { userId, keyHash, paramsHash } = claim;
    this.#makeRoom(userId, now);
    this.#environment.put("idempotency", [userId, keyHash], { paramsHash, status, body, at: now });
    this.#environment.put("idempotencyAges", [userId, now, keyHash], {});
    this.#counts.set(userId, this.#count(userId) + 1);
  }

  #count(userId: number): number {
    const known = this.#counts.get(userId);
    if (known !== undefined) return known;
    const count = this.#environment.keys("idempotencyAges", {
      start: [userId],
      end: [userId + 1],
      limit: limits.idempotency_keys_per_user_max + 1,
    }).length;
    this.#counts.set(userId, count);
    return count;
  }

  /** Removes a few old rows each time, more than one is added. */
  #makeRoom(userId: number, now: number): void {
    const count = this.#count(userId);
    const oldest = this.#environment.keys("idempotencyAges", { start: [userId], end: [userId + 1], limit: 2 });
    let removed = 0;
    for (const [, at, keyHash] of oldest) {
      const isOld = now - at > limits.idempotency_kept_ms;
      if (!isOld && count - removed < limits.idempotency_keys_per_user_max) break;
      this.#environment.remove("idempotencyAges", [userId, at, keyHash]);
      if (this.#isOf(at, [userId, keyHash])) this.#environment.remove("idempotency", [userId, keyHash]);
      removed++;
    }
    this.#counts.set(userId, count - removed);
  }

  /** A damaged answer can go as well: its turn must not fail because of it (M6). */
  #isOf(at: number, key: [number, string]): boolean {
    try {
      return this.#environment.get("idempotency", key)?.at === at;
    } catch (error) {
      if (damageIn(error) === null) throw error;
      return true;
    }
  }
}

export function keyReused(): Refusal {
  return refuse.badRequest("This Idempotency-Key was used for a request with other parameters");
}
