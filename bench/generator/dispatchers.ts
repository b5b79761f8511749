// Which connection sends when. Closed loop: every connection sends again when its answer is there; it finds the highest
// throughput, and its latencies are service times. Open loop: arrivals at a fixed rate take a free connection or wait for one,
// and latency counts from the time the arrival was due.

import { runArrivals } from "../lib/arrivals.ts";
import type { Pace } from "../lib/job.ts";
import { BACKLOG_ARRIVALS_MAX } from "../lib/limits.ts";
import type { Crew, Lane } from "./crew.ts";

export function dispatcherFor({ ratePerSecond }: Pace): Dispatcher {
  return ratePerSecond === null ? new ClosedLoop() : new OpenLoop();
}

/** Decides which lane sends when. */
export interface Dispatcher {
  /** Arrivals that have no connection yet. */
  readonly waiting: number;
  onReady(lane: Lane): void;
  onLost(lane: Lane): void;
  /** Begins to send; resolves when there will be no more arrivals. */
  run(crew: Crew, pace: Pace): Promise<void>;
  stop(): void;
}

/** Every lane that is ready sends at once. */
class ClosedLoop implements Dispatcher {
  readonly waiting = 0;
  readonly #early: Lane[] = [];
  #crew: Crew | null = null;
  #stopped = false;

  onReady(lane: Lane): void {
    if (this.#stopped) return;
    if (this.#crew === null) this.#early.push(lane);
    else this.#crew.send(lane, performance.now());
  }

  onLost(_lane: Lane): void {
    // The lane comes back through onReady.
  }

  run(crew: Crew): Promise<void> {
    this.#crew = crew;
    for (const lane of this.#early) crew.send(lane, performance.now());
    return Promise.resolve();
  }

  stop(): void {
    this.#stopped = true;
  }
}

/** Arrivals take the lane that was free last; when none is, they wait in order, and their waiting counts. */
class OpenLoop implements Dispatcher {
  #free: Lane[] = [];
  #backlog: number[] = [];
  #backlogHead = 0;
  #crew: Crew | null = null;
  #stopped = false;

  get waiting(): number {
    return this.#backlog.length - this.#backlogHead;
  }

  onReady(lane: Lane): void {
    const dueAt = this.#backlog[this.#backlogHead];
    if (this.#crew === null || dueAt === undefined) {
      this.#free.push(lane);
      return;
    }
    this.#backlogHead += 1;
    if (this.#backlogHead === this.#backlog.length) {
      this.#backlog = [];
      this.#backlogHead = 0;
    }
    this.#crew.send(lane, dueAt);
  }

  onLost(lane: Lane): void {
    this.#free = this.#free.filter((other) => other !== lane);
  }

  run(crew: Crew, pace: Pace): Promise<void> {
    this.#crew = crew;
    const fromMs = performance.now();
    return runArrivals({
      ratePerSecond: pace.ratePerSecond ?? 1,
      fromMs,
      // Until the window has closed: on a busy machine it opens late, and must not end without arrivals.
      untilMs: Number.POSITIVE_INFINITY,
      onArrival: (dueAt) => {
        if (this.#stopped) return false;
        const lane = this.#free.pop();
        if (lane !== undefined) crew.send(lane, dueAt);
        else this.#backlog.push(dueAt);
        return this.waiting < BACKLOG_ARRIVALS_MAX;
      },
    });
  }

  stop(): void {
    // What is waiting is still sent during the drain, and its lateness counts.
    this.#stopped = true;
  }
}
