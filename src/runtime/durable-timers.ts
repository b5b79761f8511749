/**
 * Durable timers (M8): rows ordered by due time. One clock timer sleeps until the next; due rows go into the line and
 * are removed in the transaction that processes them. After a restart the overdue ones fire late, but once.
 */
import type { Command } from "../../actors/commands.ts";
import { limits } from "../../schemas/limits.ts";
import type { Environment } from "../store/environment.ts";
import type { Clock } from "./clock.ts";
import type { Entry } from "./entry.ts";

const dueRows_max = 100;

/** When a realm that is closed has work again: 0: at once (commands, deliveries on their way); else its next timer; null: it has none. */
export function nextDueIn(environment: Environment): number | null {
  const hasWork = (["mailbox", "mails", "webhookDeliveries"] as const).some(
    (table) => environment.keys(table, { limit: 1 }).length > 0,
  );
  return hasWork ? 0 : (environment.keys("timers", { limit: 1 })[0]?.[0] ?? null);
}

export class DurableTimers {
  readonly #environment: Environment;
  readonly #clock: Pick<Clock, "now" | "after">;
  readonly #fire: (entry: Entry) => void;
  /** Rows that are in the line already. */
  readonly #firing = new Set<string>();
  #nextDueAt: number | null = null;
  /** As many were due as are read at a time: the next ones are read when these are done. */
  #mayBeMore = false;
  #firedUpTo = 0;
  #cancel: (() => void) | null = null;
  #isStopped = false;

  /** @param clock its `now` says up to when timers are due (realm-time.ts) */
  constructor(environment: Environment, clock: Pick<Clock, "now" | "after">, fire: (entry: Entry) => void) {
    this.#environment = environment;
    this.#clock = clock;
    this.#fire = fire;
  }

  /** A row was written. */
  scheduled(dueAt: number): void {
    if (this.#nextDueAt === null || dueAt < this.#nextDueAt) this.#sleepUntil(dueAt);
  }

  /** A row was processed and is gone. */
  finished(dueAt: number, sequence: number): void {
    this.#firing.delete(`${dueAt}:${sequence}`);
    if (this.#mayBeMore && this.#firing.size === 0) this.#sleepUntil(this.#clock.now());
  }

  /** When the latest timer that has rung was due; 0: none has. */
  get rungUpTo(): number {
    return this.#firedUpTo;
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  /** Looks for due rows and sleeps until the next one. */
  arm(): void {
    const now = this.#clock.now();
    const limit = dueRows_max + this.#firing.size;
    const rows = this.#environment.rows("timers", { limit });
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
        settle: null,
        claim: null,
      });
    }
    this.#mayBeMore = rows.length === limit;
  }

  #armAgain(): void {
    try {
      this.arm();
    } catch (error) {
      // A damaged row: the timers are looked at again later.
      this.#sleepUntil(this.#clock.now() + limits.timer_sleep_ms_max);
      throw error;
    }
  }

  /** Long sleeps are cut, so that a clock that jumps is noticed. */
  #sleepUntil(dueAt: number): void {
    if (this.#isStopped) return;
    this.#nextDueAt = dueAt;
    this.#cancel?.();
    const delay = Math.min(Math.max(0, dueAt - this.#clock.now()), limits.timer_sleep_ms_max);
    this.#cancel = this.#clock.after(delay, () => this.#armAgain());
  }
}
