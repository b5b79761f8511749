// Posts over HTTP, and the events that they cause, counted at every receiver. Closed loop: a connection posts again
// when it has its response and all receivers have the event, so the slower of server and receivers sets the pace. Open
// loop: posts at a fixed rate, with latency from the due time to each receiver and to the last one.

import { runArrivals } from "../lib/arrivals.ts";
import { markerIn, markersIn } from "../lib/http-request.ts";
import type { DeliveriesJob, DeliveriesResult } from "../lib/job.ts";
import { BACKLOG_ARRIVALS_MAX, DELIVERY_WAIT_MS, MARKERS_MAX } from "../lib/limits.ts";
import { Probe } from "../lib/probe.ts";
import { Recorder } from "../lib/recorder.ts";
import { ConnectionPool, type PooledConnection } from "./connection-pool.ts";
import { ReceiptTracker } from "./receipt-tracker.ts";
import { ReceiverPool } from "./receiver-pool.ts";
import { drain, runWindow } from "./window.ts";

const SWEEP_MS = 250;

/** Runs the job. Rejects when a receiver is rejected or connections break repeatedly. */
export async function runDeliveries(job: DeliveriesJob): Promise<DeliveriesResult> {
  const run = new DeliveryRun(job);
  await run.open();
  return await run.measure();
}

class DeliveryRun {
  readonly #job: DeliveriesJob;
  readonly #probe: Probe;
  /** Posts answered with 200. */
  readonly #posts: Recorder;
  readonly #deliveries: Recorder;
  readonly #lastReceiver: Recorder;
  readonly #receipts: ReceiptTracker;
  readonly #receiverPool: ReceiverPool;
  readonly #pool: ConnectionPool;
  readonly #samples: string[] = [];
  /**
   * Lanes that have their response and may post: when their post is complete (closed loop), or at the next arrival
   * (open loop).
   */
  #free: PooledConnection[] = [];
  #backlog: number[] = [];
  #frames = 0;
  #sending = false;
  #isFinishing = false;

  constructor(job: DeliveriesJob) {
    const { durationMs } = job.pace;
    this.#job = job;
    this.#probe = new Probe(job.watch);
    this.#posts = new Recorder(durationMs);
    this.#deliveries = new Recorder(durationMs);
    this.#lastReceiver = new Recorder(durationMs);
    this.#receipts = new ReceiptTracker(job.receivers.count);
    this.#receiverPool = new ReceiverPool(job.address, job.receivers, {
      onFrame: (index, bytes, from, to) => this.#onFrame(index, bytes, from, to),
    });
    this.#pool = new ConnectionPool({
      address: job.address,
      ...(job.postSockets === undefined ? {} : { sockets: job.postSockets }),
      cycles: job.cycles,
      firstMarker: job.firstMarker,
      connections: job.connections,
      onReady: (pooled) => this.#onReady(pooled),
      onLost: (pooled) => {
        this.#free = this.#free.filter((other) => other !== pooled);
      },
      onAnswer: (_lane, response, now) => {
        if (response.status === 200) this.#posts.complete(now);
      },
    });
  }

  async open(): Promise<void> {
    await this.#receiverPool.openUntil(this.#job.receivers.count);
    await this.#pool.open();
  }

  async measure(): Promise<DeliveriesResult> {
    const { pace } = this.#job;
    this.#sending = true;
    const recorders = [this.#posts, this.#deliveries, this.#lastReceiver];
    const window = runWindow({ pace, probe: this.#probe, recorders });
    const sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    const arrivals = pace.ratePerSecond === null ? this.#startAll() : this.#startArrivals(pace.ratePerSecond);
    await Promise.race([window, this.#pool.failed]);
    await arrivals;
    this.#finishCycles();
    await drain(() => this.#receipts.open + this.#pool.busy + this.#backlog.length, DELIVERY_WAIT_MS);
    clearInterval(sweeper);
    const unanswered = this.#pool.busy + this.#backlog.length;
    this.#pool.close();
    const usage = await this.#probe.report();
    const lost = { closedReceivers: this.#receiverPool.lost, firstClose: this.#receiverPool.firstClose };
    await this.#receiverPool.close();
    return { ...this.#summary(), ...lost, failures: this.#pool.failures(unanswered), usage };
  }

  #summary(): Omit<DeliveriesResult, "usage" | "failures" | "closedReceivers" | "firstClose"> {
    const perSecond = (recorder: Recorder): number => (recorder.completed * 1000) / recorder.elapsedMs;
    return {
      posts: this.#posts.completed,
      postsPerSecond: perSecond(this.#posts),
      deliveries: this.#deliveries.completed,
      deliveriesPerSecond: perSecond(this.#deliveries),
      latency: this.#deliveries.summary(),
      lastReceiver: this.#lastReceiver.summary(),
      throughput: this.#deliveries.throughput(),
      incomplete: this.#receipts.open,
      duplicates: this.#receipts.duplicates,
      frames: this.#frames,
      sampleFrames: this.#samples,
    };
  }

  #startAll(): Promise<void> {
    const lanes = this.#free;
    this.#free = [];
    for (const pooled of lanes) this.#post(pooled, performance.now());
    return Promise.resolve();
  }

  #startArrivals(ratePerSecond: number): Promise<void> {
    const fromMs = performance.now();
    return runArrivals({
      ratePerSecond,
      fromMs,
      untilMs: fromMs + this.#job.pace.warmupMs + this.#job.pace.durationMs,
      onArrival: (dueAt) => {
        // First in, first out: the server would expire a typist that waits long between start and stop.
        const pooled = this.#free.shift();
        if (pooled === undefined) this.#backlog.push(dueAt);
        else this.#post(pooled, dueAt);
        return this.#backlog.length < BACKLOG_ARRIVALS_MAX;
      },
    });
  }

  #post(pooled: PooledConnection, dueAt: number): void {
    this.#receipts.begin(this.#pool.send(pooled, dueAt), dueAt);
  }

  /** Called when the lane has its response: it posts again if it must and may, otherwise it becomes free. */
  #onReady(pooled: PooledConnection): void {
    const dueAt =
      this.#job.pace.ratePerSecond === null
        ? this.#nextTurnOf(pooled)
        : (this.#backlog.shift() ?? this.#nextTurnOf(pooled));
    if (dueAt === null) this.#free.push(pooled);
    else this.#post(pooled, dueAt);
  }

  /**
   * When the lane posts without waiting for an arrival; null: it waits. Closed loop: now, if its post is complete. At
   * the end of a run, an unfinished cycle is completed (a typist that started also stops).
   */
  #nextTurnOf(pooled: PooledConnection): number | null {
    const isClosedLoop = this.#job.pace.ratePerSecond === null;
    const isWanted = this.#sending ? isClosedLoop : this.#isFinishing && isMidCycle(pooled);
    const isFree = pooled.turn === -1 || this.#receipts.isComplete(pooled.post);
    return isWanted && isFree ? performance.now() : null;
  }

  #finishCycles(): void {
    this.#sending = false;
    this.#isFinishing = true;
    const lanes = this.#free;
    this.#free = [];
    for (const pooled of lanes) this.#onReady(pooled);
  }

  #onFrame(receiver: number, bytes: Buffer, from: number, to: number): void {
    this.#frames += 1;
    const now = performance.now();
    if (this.#job.decoder === "typing") this.#onTypingFrame(receiver, bytes.toString("utf8", from, to), now);
    else this.#scan(receiver, bytes, { from, to, now });
  }

  #scan(receiver: number, bytes: Buffer, range: { from: number; to: number; now: number }): void {
    const payload = bytes.subarray(range.from, range.to);
    for (const marker of markersIn(payload)) {
      if (receiver === 0) this.#keepSample(0, () => payload.toString("utf8"));
      this.#see(this.#postOf(marker, 0), receiver, range.now);
    }
  }

  #onTypingFrame(receiver: number, text: string, now: number): void {
    for (const event of eventsOf(text)) {
      if (event.type !== "typing" || typeof event.topic !== "string") continue;
      const marker = markerIn(event.topic);
      if (marker === null) continue;
      const turn = event.op === "stop" ? 1 : 0;
      if (receiver === 0) this.#keepSample(turn, () => text);
      this.#see(this.#postOf(marker, turn), receiver, now);
    }
  }

  /** The post of a marker found in a frame. Markers of other runs map to posts that this run never sends. */
  #postOf(marker: number, turn: number): number {
    const inThisRun = (marker - this.#job.firstMarker + MARKERS_MAX) % MARKERS_MAX;
    return inThisRun * (this.#job.cycles[0]?.length ?? 1) + turn;
  }

  #keepSample(turn: number, read: () => string): void {
    this.#samples[turn] ??= read();
  }

  #see(post: number, receiver: number, now: number): void {
    const dueAt = this.#receipts.dueAt(post);
    if (dueAt === null) return;
    const seen = this.#receipts.see(post, receiver);
    if (seen === "again") return;
    this.#deliveries.complete(now);
    this.#deliveries.latency(dueAt, now);
    if (seen !== "last") return;
    this.#lastReceiver.latency(dueAt, now);
    if (this.#job.pace.ratePerSecond === null || this.#isFinishing) this.#continue(post);
  }

  /** Lets the lane post again whose post has just become complete, if it already has its response. */
  #continue(post: number): void {
    const index = this.#free.findIndex((pooled) => pooled.post === post);
    if (index === -1) return;
    const [pooled] = this.#free.splice(index, 1);
    if (pooled !== undefined) this.#onReady(pooled);
  }

  /** Closed loop: a lane whose post never became complete posts again, and the post counts as incomplete. */
  #sweep(): void {
    if (this.#job.pace.ratePerSecond !== null || !this.#sending) return;
    const now = performance.now();
    const late = this.#free.filter((pooled) => now - pooled.dueAt > DELIVERY_WAIT_MS);
    this.#free = this.#free.filter((pooled) => !late.includes(pooled));
    for (const pooled of late) this.#post(pooled, now);
  }
}

/** Whether the lane has started a cycle and not completed it. */
function isMidCycle(pooled: PooledConnection): boolean {
  return pooled.turn !== -1 && pooled.turn < pooled.requests.length - 1;
}

interface PushedEvent {
  readonly type?: string;
  readonly op?: string;
  readonly topic?: unknown;
}

/** The events of one frame: `event` holds one, `events` several, anything else none. */
function eventsOf(text: string): readonly PushedEvent[] {
  const frame = JSON.parse(text) as { type?: string; event?: PushedEvent; events?: readonly PushedEvent[] };
  if (frame.type === "event" && frame.event !== undefined) return [frame.event];
  return frame.type === "events" && frame.events !== undefined ? frame.events : [];
}
