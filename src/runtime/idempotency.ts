/**
 * Stores the first answer for an Idempotency-Key (D25). It is written in the same transaction as the command, so a
 * crash leaves both or neither. 2xx and decided 4xx are stored, never 429 or 5xx. Answers expire, and their number per
 * user is bounded.
 */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { damageIn } from "../store/damage.ts";
import type { Environment } from "../store/environment.ts";
import type { IdempotencyKey } from "./queued-command.ts";
import { type Reply, statusOf } from "./results.ts";

export interface KeptAnswer {
  readonly idempotencyKey: IdempotencyKey;
  readonly status: number;
  readonly body: string;
}

export class IdempotencyKeys {
  readonly #environment: Environment;
  /** Rows per user, counted once and then maintained. */
  readonly #counts = new Map<number, number>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /**
   * Returns the stored answer, a rejection if the key was used with other parameters, or null if the request must be
   * executed.
   */
  find(idempotencyKey: IdempotencyKey, now: number): Reply | null {
    const row = this.#environment.get("idempotency", [idempotencyKey.userId, idempotencyKey.keyHash]);
    if (row === undefined || now - row.at > limits.idempotency_kept_ms) return null;
    if (row.paramsHash !== idempotencyKey.paramsHash) return keyReused();
    return JSON.parse(row.body) as Reply;
  }

  /** Returns null if answers of this kind or size are not stored. */
  answerToKeep(idempotencyKey: IdempotencyKey, result: Reply): KeptAnswer | null {
    const status = statusOf(result);
    const body = JSON.stringify(result);
    if (status === 429 || status >= 500 || body.length > limits.idempotency_answer_bytes_max) return null;
    return { idempotencyKey, status, body };
  }

  /** Must be called inside the turn's transaction. */
  keep({ idempotencyKey, status, body }: KeptAnswer, now: number): void {
    const { userId, keyHash, paramsHash } = idempotencyKey;
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

  /** Removes up to two old rows per call, so that rows are removed faster than they are added. */
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

  /** A damaged answer counts as matching, so that it is removed and the turn does not fail because of it (M6). */
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
