// Posts over HTTP, and the events that they cause, which other programs read (receiver-programs.ts). Closed loop: a
// connection posts again when it has its response and all receivers have the event, so the slower of server and
// receivers sets the pace. Open loop: posts at a fixed rate, with latency from the due time to each receiver and to the
// last one.

import { runArrivals } from "../lib/arrivals.ts";
import { type DeliveriesJob, type DeliveriesResult, KIT_SENDER } from "../lib/job.ts";
import { BACKLOG_ARRIVALS_MAX, DELIVERY_WAIT_MS, POSTS_PER_RUN_MAX } from "../lib/limits.ts";
import { Probe } from "../lib/probe.ts";
import { postsPerMarker } from "../lib/receiver-protocol.ts";
import { Recorder } from "../lib/recorder.ts";
import { ConnectionPool, type PooledConnection } from "./connection-pool.ts";
import { runWrkDeliveries } from "./deliveries-wrk.ts";
import { ReceiverPrograms, receiverName } from "./receiver-programs.ts";
import { drain, runWindow } from "./window.ts";

const SWEEP_MS = 250;

/** Runs the job. Rejects when a receiver is rejected or connections break repeatedly. */
export async function runDeliveries(job: DeliveriesJob): Promise<DeliveriesResult> {
  if (job.wrk !== undefined) return await runWrkDeliveries(job, job.wrk);
  const run = new DeliveryRun(job);
  await run.open();
  return await run.measure();
}

/** A post that some receivers have not seen yet. */
interface OpenPost {
  readonly dueAt: number;
  /** Programs whose receivers have not all seen it. */
  missing: number;
  lastAt: number;
}

class DeliveryRun {
  readonly #job: DeliveriesJob;
  readonly #probe: Probe;
  /** Posts answered with 200. */
  readonly #posts: Recorder;
  readonly #deliveries: Recorder;
  readonly #lastReceiver: Recorder;
  readonly #open = new Map<number, OpenPost>();
  readonly #receivers: ReceiverPrograms;
  readonly #pool: ConnectionPool;
  /**
   * Lanes that have their response and may post: when their post is complete (closed loop), or at the next arrival
   * (open loop).
   */
  #free: PooledConnection[] = [];
  #backlog: number[] = [];
  #sending = false;
  #isFinishing = false;

  constructor(job: DeliveriesJob) {
    const { durationMs } = job.pace;
    if ((job.cycles[0]?.length ?? 1) !== postsPerMarker(job.decoder))
      throw new Error("a cycle is no round of a marker");
    this.#job = job;
    this.#probe = new Probe(job.watch);
    this.#posts = new Recorder(durationMs);
    this.#deliveries = new Recorder(durationMs);
    this.#lastReceiver = new Recorder(durationMs);
    this.#receivers = new ReceiverPrograms(job, (post, arrivedAt) => this.#onSeen(post, arrivedAt));
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
    await this.#receivers.open();
    await this.#pool.open();
  }

  async measure(): Promise<DeliveriesResult> {
    const { pace } = this.#job;
    this.#sending = true;
    const recorders = [this.#posts, this.#deliveries, this.#lastReceiver];
    const window = runWindow({ pace, probe: this.#probe, recorders });
    const sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    const arrivals = pace.ratePerSecond === null ? this.#startAll() : this.#startArrivals(pace.ratePerSecond);
    await Promise.race([window, this.#pool.failed, this.#receivers.failed]);
    await arrivals;
    this.#finishCycles();
    await drain(() => this.#open.size + this.#pool.busy + this.#backlog.length, DELIVERY_WAIT_MS);
    clearInterval(sweeper);
    const unanswered = this.#pool.busy + this.#backlog.length;
    this.#pool.close();
    const usage = await this.#probe.report();
    const { lost, firstClose, duplicates, frames, samples } = await this.#receivers.close();
    return {
      ...this.#summary(),
      ...{ closedReceivers: lost, firstClose, duplicates, frames, sampleFrames: samples },
      sender: KIT_SENDER,
      receiver: receiverName(this.#job),
      failures: this.#pool.failures(unanswered),
      usage,
    };
  }

  #summary() {
    const perSecond = (recorder: Recorder): number => (recorder.completed * 1000) / recorder.elapsedMs;
    return {
      posts: this.#posts.completed,
      postsPerSecond: perSecond(this.#posts),
      deliveries: this.#deliveries.completed,
      deliveriesPerSecond: perSecond(this.#deliveries),
      latency: this.#deliveries.summary(),
      lastReceiver: this.#lastReceiver.summary(),
      throughput: this.#deliveries.throughput(),
      incomplete: this.#open.size,
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
    const post = this.#pool.send(pooled, dueAt);
    if (post >= POSTS_PER_RUN_MAX) throw new RangeError("too many posts: choose a shorter duration or a lower rate");
    this.#open.set(post, { dueAt, missing: this.#receivers.count, lastAt: 0 });
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
    const isFree = pooled.turn === -1 || !this.#open.has(pooled.post);
    return isWanted && isFree ? performance.now() : null;
  }

  #finishCycles(): void {
    this.#sending = false;
    this.#isFinishing = true;
    const lanes = this.#free;
    this.#free = [];
    for (const pooled of lanes) this.#onReady(pooled);
  }

  /** All sockets of one program have seen a post. It may be one that this run never sent, of another run. */
  #onSeen(number: number, arrivedAt: readonly number[]): void {
    const post = this.#open.get(number);
    if (post === undefined) return;
    for (const at of arrivedAt) {
      this.#deliveries.complete(at);
      this.#deliveries.latency(post.dueAt, at);
    }
    post.lastAt = Math.max(post.lastAt, arrivedAt.at(-1) ?? 0);
    post.missing -= 1;
    if (post.missing > 0) return;
    this.#open.delete(number);
    this.#lastReceiver.latency(post.dueAt, post.lastAt);
    if (this.#job.pace.ratePerSecond === null || this.#isFinishing) this.#continue(number);
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
