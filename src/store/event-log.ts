/**
 * The realm's event log: one row per durable event, ordered by position. It is bounded by bytes and age, keeps events
 * for at least `event_log_kept_ms_min`, and is pruned in slices.
 */
import { limits } from "../../schemas/limits.ts";
import type { EventRecord } from "../../schemas/runtime.ts";
import { encodeRow } from "./codec.ts";
import type { Lmdb } from "./lmdb.ts";

export class EventLog {
  readonly #lmdb: Lmdb;
  #startsAt: number;

  constructor(lmdb: Lmdb) {
    this.#lmdb = lmdb;
    // A log that was never pruned has every event.
    this.#startsAt = (lmdb.get("meta", "event-log-start")?.value as number | undefined) ?? 0;
  }

  /** Everything from this position on can be replayed. */
  get startsAt(): number {
    return this.#startsAt;
  }

  /** Rows from a position on, in order. */
  read(from: number, limit: number): EventRecord[] {
    return this.#lmdb.rows("events", { start: from, limit }).map(({ row }) => row);
  }

  /**
   * Removes the oldest rows if they are too old, or the log is too large. Must be called inside a transaction.
   * @param bytes current size of the log
   * @returns bytes removed; 0 if there was nothing to remove
   */
  prune(now: number, bytes: number): number {
    let removed = 0;
    let next = this.#startsAt;
    for (const { key, row } of this.#lmdb.rows("events", { limit: limits.event_log_prune_rows_max })) {
      const age = now - row.at;
      const isTooOld = age > limits.event_log_kept_ms_max;
      const isTooMuch = bytes - removed > limits.event_log_bytes_max && age > limits.event_log_kept_ms_min;
      if (!isTooOld && !isTooMuch) break;
      removed += encodeRow("events", key, row).length;
      this.#lmdb.remove("events", key);
      next = key + 1;
    }
    if (removed > 0) {
      this.#lmdb.put("meta", "event-log-start", { value: next });
      this.#startsAt = next;
    }
    return removed;
  }
}
