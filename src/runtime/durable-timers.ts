/**
 * Durable timers (M8): rows ordered by due time. One clock timer waits for the next row; due rows are queued, and
 * removed in the transaction that processes them. After a restart overdue timers fire late, but once.
 */

import { statSync } from "node:fs";
import type { Command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { dataFile } from "../store/data-file.ts";
import { type Lmdb, openLmdb } from "../store/lmdb.ts";
import type { Clock } from "./clock.ts";
import type { QueuedCommand } from "./queued-command.ts";

/**
 * The due times of organizations that came from other nodes of a cluster and were not opened here yet. The times in the
 * root are older.
 */
export class ServedDueTimes {
  readonly #dueAt = new Map<number, number | null>();

  /**
   * Reads it from a closed store.
   * @returns false if it is so large that its first user would wait long: it should be opened at once
   */
  read(id: number, folder: string): boolean {
    if (statSync(dataFile(folder)).size > limits.cluster_opened_at_once_bytes) return false;
    const lmdb = openLmdb(folder);
    try {
      this.#dueAt.set(id, nextDueIn(lmdb));
    } finally {
      void lmdb.close();
    }
    return true;
  }

  /**
   * @param hint of the root: it counts if the organization did not come from another node, or was opened since
   * @returns null: never
   */
  of(id: number, hint: number | null): number | null {
    const dueAt = this.#dueAt.get(id);
    return dueAt === undefined ? hint : dueAt;
  }

  forget(id: number): void {
    this.#dueAt.delete(id);
  }
}

const dueRows_max = 100;

/**
 * When a closed realm has work again: 0 if it has some already (commands, deliveries), else the time of its next timer,
 * or null without one.
 */
export function nextDueIn(lmdb: Lmdb): number | null {
  const hasWork = (["mailbox", "mails", "webhookDeliveries"] as const).some(
    (table) => lmdb.keys(table, { limit: 1 }).length > 0,
  );
  return hasWork ? 0 : (lmdb.keys("timers", { limit: 1 })[0]?.[0] ?? null);
}

export class DurableTimers {
  readonly #lmdb: Lmdb;
  readonly #clock: Pick<Clock, "now" | "after">;
  readonly #fire: (queued: QueuedCommand) => void;
  /** Rows that are already in the command queue. */
  readonly #firing = new Set<string>();
  #nextDueAt: number | null = null;
  /** The last read hit its row limit: read again when these rows are done. */
  #mayBeMore = false;
  #firedUpTo = 0;
  #cancel: (() => void) | null = null;
  #isStopped = false;

  /** @param clock its `now` decides which timers are due (clock.ts) */
  constructor(lmdb: Lmdb, clock: Pick<Clock, "now" | "after">, fire: (queued: QueuedCommand) => void) {
    this.#lmdb = lmdb;
    this.#clock = clock;
    this.#fire = fire;
  }

  /** A timer row was written. */
  scheduled(dueAt: number): void {
    if (this.#nextDueAt === null || dueAt < this.#nextDueAt) this.#sleepUntil(dueAt);
  }

  /** A timer row was processed and removed. */
  finished(dueAt: number, sequence: number): void {
    this.#firing.delete(`${dueAt}:${sequence}`);
    if (this.#mayBeMore && this.#firing.size === 0) this.#sleepUntil(this.#clock.now());
  }

  /** Due time of the latest timer that fired; 0 if none has. */
  get firedUpTo(): number {
    return this.#firedUpTo;
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  /** Queues due rows and waits for the next one. */
  arm(): void {
    const now = this.#clock.now();
    const limit = dueRows_max + this.#firing.size;
    const rows = this.#lmdb.rows("timers", { limit });
    this.#nextDueAt = null;
    this.#mayBeMore = false;
    for (const { row } of rows) {
      const name = `${row.dueAt}:${row.sequence}`;
      if (this.#firing.has(name)) continue;
      if (row.dueAt > now) {
        this.#sleepUntil(row.dueAt);
        return;
      }
      this.#firing.add(name);
      this.#firedUpTo = Math.max(this.#firedUpTo, row.dueAt);
      this.#fire({
        command: row.command as Command,
        source: { kind: "timer", dueAt: row.dueAt, sequence: row.sequence },
        resolve: null,
        idempotencyKey: null,
      });
    }
    this.#mayBeMore = rows.length === limit;
  }

  #armAgain(): void {
    try {
      this.arm();
    } catch (error) {
      // A timer row is damaged: read the timers again later.
      this.#sleepUntil(this.#clock.now() + limits.timer_sleep_ms_max);
      throw error;
    }
  }

  /** Long waits are split, so that a jump of the clock is noticed. */
  #sleepUntil(dueAt: number): void {
    if (this.#isStopped) return;
    this.#nextDueAt = dueAt;
    this.#cancel?.();
    const delay = Math.min(Math.max(0, dueAt - this.#clock.now()), limits.timer_sleep_ms_max);
    this.#cancel = this.#clock.after(delay, () => this.#armAgain());
  }
}
