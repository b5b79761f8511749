// Decides when each connection sends. Closed loop: every connection sends again when it has its response; this finds
// the highest throughput, and its latencies are service times. Open loop: arrivals at a fixed rate take a free
// connection or wait for one, and latency counts from the arrival's due time.

import { runArrivals } from "../lib/arrivals.ts";
import type { Pace } from "../lib/job.ts";
import { BACKLOG_ARRIVALS_MAX } from "../lib/limits.ts";
import type { ConnectionPool, PooledConnection } from "./connection-pool.ts";

export function dispatcherFor({ ratePerSecond }: Pace): Dispatcher {
  return ratePerSecond === null ? new ClosedLoop() : new OpenLoop();
}

/** Decides when each lane sends. */
export interface Dispatcher {
  /** Arrivals that wait for a connection. */
  readonly waiting: number;
  onReady(pooled: PooledConnection): void;
  onLost(pooled: PooledConnection): void;
  /** Starts sending; resolves when there will be no more arrivals. */
  run(pool: ConnectionPool, pace: Pace): Promise<void>;
  stop(): void;
}

/** Every ready lane sends at once. */
class ClosedLoop implements Dispatcher {
  readonly waiting = 0;
  readonly #early: PooledConnection[] = [];
  #pool: ConnectionPool | null = null;
  #stopped = false;

  onReady(pooled: PooledConnection): void {
    if (this.#stopped) return;
    if (this.#pool === null) this.#early.push(pooled);
    else this.#pool.send(pooled, performance.now());
  }

  onLost(_lane: PooledConnection): void {
    // The lane calls onReady again.
  }

  run(pool: ConnectionPool): Promise<void> {
    this.#pool = pool;
    for (const pooled of this.#early) pool.send(pooled, performance.now());
    return Promise.resolve();
  }

  stop(): void {
    this.#stopped = true;
  }
}

/** Arrivals take the lane that became free last. Without one they wait in order, and the wait counts as latency. */
class OpenLoop implements Dispatcher {
  #free: PooledConnection[] = [];
  #backlog: number[] = [];
  #backlogHead = 0;
  #pool: ConnectionPool | null = null;
  #stopped = false;

  get waiting(): number {
    return this.#backlog.length - this.#backlogHead;
  }

  onReady(pooled: PooledConnection): void {
    const dueAt = this.#backlog[this.#backlogHead];
    if (this.#pool === null || dueAt === undefined) {
      this.#free.push(pooled);
      return;
    }
    this.#backlogHead += 1;
    if (this.#backlogHead === this.#backlog.length) {
      this.#backlog = [];
      this.#backlogHead = 0;
    }
    this.#pool.send(pooled, dueAt);
  }

  onLost(pooled: PooledConnection): void {
    this.#free = this.#free.filter((other) => other !== pooled);
  }

  run(pool: ConnectionPool, pace: Pace): Promise<void> {
    this.#pool = pool;
    const fromMs = performance.now();
    return runArrivals({
      ratePerSecond: pace.ratePerSecond ?? 1,
      fromMs,
      // Without an end: on a busy machine the window opens late, and arrivals must continue until it has closed.
      untilMs: Number.POSITIVE_INFINITY,
      onArrival: (dueAt) => {
        if (this.#stopped) return false;
        const pooled = this.#free.pop();
        if (pooled !== undefined) pool.send(pooled, dueAt);
        else this.#backlog.push(dueAt);
        return this.waiting < BACKLOG_ARRIVALS_MAX;
      },
    });
  }

  stop(): void {
    // Waiting arrivals are still sent during the drain, and their delay counts.
    this.#stopped = true;
  }
}
