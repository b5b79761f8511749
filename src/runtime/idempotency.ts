/**
 * Stores the first answer for an Idempotency-Key (D25). It is written in the same transaction as the command, so a
 * crash leaves both or neither. 2xx and decided 4xx are stored, never 429 or 5xx. Answers expire, and their number and
 * their bytes per user are bounded.
 */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { damageIn } from "../store/damage.ts";
import type { Lmdb } from "../store/lmdb.ts";
import type { IdempotencyKey } from "./queued-command.ts";
import { type Reply, statusOf } from "./results.ts";

export interface KeptAnswer {
  readonly idempotencyKey: IdempotencyKey;
  readonly status: number;
  readonly body: string;
}

/** The stored answers of one user. */
interface Use {
  readonly keys: number;
  readonly bytes: number;
}

export class IdempotencyKeys {
  readonly #lmdb: Lmdb;
  /** By user, counted once and then maintained. */
  readonly #uses = new Map<number, Use>();

  constructor(lmdb: Lmdb) {
    this.#lmdb = lmdb;
  }

  /**
   * Returns the stored answer, a rejection if the key was used with other parameters, or null if the request must be
   * executed.
   */
  find(idempotencyKey: IdempotencyKey, now: number): Reply | null {
    const row = this.#lmdb.get("idempotency", [idempotencyKey.userId, idempotencyKey.keyHash]);
    if (row === undefined || now - row.at > limits.idempotency_kept_ms) return null;
    if (row.paramsHash !== idempotencyKey.paramsHash) return keyReused();
    return JSON.parse(row.body) as Reply;
  }

  /** Returns null if answers of this kind or size are not stored. */
  answerToKeep(idempotencyKey: IdempotencyKey, result: Reply): KeptAnswer | null {
    const status = statusOf(result);
    const body = JSON.stringify(result);
    if (status === 429 || status >= 500 || Buffer.byteLength(body) > limits.idempotency_answer_bytes_max) return null;
    return { idempotencyKey, status, body };
  }

  /** Must be called inside the turn's transaction. */
  keep({ idempotencyKey, status, body }: KeptAnswer, now: number): void {
    const { userId, keyHash, paramsHash } = idempotencyKey;
    const bytes = Buffer.byteLength(body);
    const use = this.#makeRoom(userId, bytes, now);
    this.#lmdb.put("idempotency", [userId, keyHash], { paramsHash, status, body, at: now });
    this.#lmdb.put("idempotencyAges", [userId, now, keyHash], { bytes });
    this.#uses.set(userId, { keys: use.keys + 1, bytes: use.bytes + bytes });
  }

  #use(userId: number): Use {
    const known = this.#uses.get(userId);
    if (known !== undefined) return known;
    const rows = this.#oldest(userId, limits.idempotency_keys_per_user_max + 1);
    return { keys: rows.length, bytes: rows.reduce((sum, { row }) => sum + row.bytes, 0) };
  }

  #oldest(userId: number, limit: number) {
    return this.#lmdb.rows("idempotencyAges", { start: [userId], end: [userId + 1], limit });
  }

  /**
   * Removes rows until the answer fits. Up to two expired rows are removed in any case, so that rows are removed faster
   * than they are added.
   */
  #makeRoom(userId: number, bytes: number, now: number): Use {
    let { keys, bytes: used } = this.#use(userId);
    const isFull = () =>
      keys >= limits.idempotency_keys_per_user_max || used + bytes > limits.idempotency_answers_bytes_per_user_max;
    for (let isFirst = true; keys > 0 && (isFirst || isFull()); isFirst = false) {
      for (const { key, row } of this.#oldest(userId, 2)) {
        const [, at, keyHash] = key;
        if (now - at <= limits.idempotency_kept_ms && !isFull()) break;
        this.#lmdb.remove("idempotencyAges", key);
        if (this.#isOf(at, [userId, keyHash])) this.#lmdb.remove("idempotency", [userId, keyHash]);
        keys--;
        used -= row.bytes;
      }
    }
    return { keys, bytes: used };
  }

  /** A damaged answer counts as matching, so that it is removed and the turn does not fail because of it (M6). */
  #isOf(at: number, key: [number, string]): boolean {
    try {
      return this.#lmdb.get("idempotency", key)?.at === at;
    } catch (error) {
      if (damageIn(error) === null) throw error;
      return true;
    }
  }
}

export function keyReused(): Refusal {
  return refuse.badRequest("This Idempotency-Key was used for a request with other parameters");
}
