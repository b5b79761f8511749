// Posts over HTTP and the events that they cause, counted at every receiver. Closed loop: a connection posts again when its
// answer is there and all receivers have the event, so the pace follows whichever is slower, server or readers, and no reader
// falls behind. Open loop: posts at a fixed rate, latency from the due time to each receiver and to the last one.

import { runArrivals } from "../lib/arrivals.ts";
import { markerIn, markersIn } from "../lib/http-request.ts";
import type { DeliveriesJob, DeliveriesResult } from "../lib/job.ts";
import { BACKLOG_ARRIVALS_MAX, DELIVERY_WAIT_MS, MARKERS_MAX } from "../lib/limits.ts";
import { Probe } from "../lib/probe.ts";
import { Recorder } from "../lib/recorder.ts";
import { Crew, type Lane } from "./crew.ts";
import { Crowd } from "./crowd.ts";
import { Ledger } from "./ledger.ts";
import { drain, runWindow } from "./window.ts";

const SWEEP_MS = 250;

/** Runs the job. Rejects when a receiver is refused or connections break again and again. */
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
  readonly #ledger: Ledger;
  readonly #crowd: Crowd;
  readonly #crew: Crew;
  readonly #samples: string[] = [];
  /** Lanes whose answer is there and that may post again when their post is complete (closed loop) or at once (open loop). */
  #free: Lane[] = [];
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
    this.#ledger = new Ledger(job.receivers.count);
    this.#crowd = new Crowd(job.address, job.receivers, {
      onFrame: (index, bytes, from, to) => this.#onFrame(index, bytes, from, to),
    });
    this.#crew = new Crew({
      address: job.address,
      ...(job.postSockets === undefined ? {} : { sockets: job.postSockets }),
      cycles: job.cycles,
      firstMarker: job.firstMarker,
      connections: job.connections,
      onReady: (lane) => this.#onReady(lane),
      onLost: (lane) => {
        this.#free = this.#free.filter((other) => other !== lane);
      },
      onAnswer: (_lane, response, now) => {
        if (response.status === 200) this.#posts.complete(now);
      },
    });
  }

  async open(): Promise<void> {
    await this.#crowd.openUntil(this.#job.receivers.count);
    await this.#crew.open();
  }

  async measure(): Promise<DeliveriesResult> {
    const { pace } = this.#job;
    this.#sending = true;
    const recorders = [this.#posts, this.#deliveries, this.#lastReceiver];
    const window = runWindow({ pace, probe: this.#probe, recorders });
    const sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    const arrivals = pace.ratePerSecond === null ? this.#startAll() : this.#startArrivals(pace.ratePerSecond);
    await Promise.race([window, this.#crew.failed]);
    await arrivals;
    this.#finishCycles();
    await drain(() => this.#ledger.open + this.#crew.busy + this.#backlog.length, DELIVERY_WAIT_MS);
    clearInterval(sweeper);
    const unanswered = this.#crew.busy + this.#backlog.length;
    this.#crew.close();
    const usage = await this.#probe.report();
    const lost = { closedReceivers: this.#crowd.lost, firstClose: this.#crowd.firstClose };
    await this.#crowd.close();
    return { ...this.#summary(), ...lost, failures: this.#crew.failures(unanswered), usage };
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
      incomplete: this.#ledger.open,
      duplicates: this.#ledger.duplicates,
      frames: this.#frames,
      sampleFrames: this.#samples,
    };
  }

  #startAll(): Promise<void> {
    const lanes = this.#free;
    this.#free = [];
    for (const lane of lanes) this.#post(lane, performance.now());
    return Promise.resolve();
  }

  #startArrivals(ratePerSecond: number): Promise<void> {
    const fromMs = performance.now();
    return runArrivals({
      ratePerSecond,
      fromMs,
      untilMs: fromMs + this.#job.pace.warmupMs + this.#job.pace.durationMs,
      onArrival: (dueAt) => {
        // First in, first out: a typist that had to wait long between start and stop would expire on the server.
        const lane = this.#free.shift();
        if (lane === undefined) this.#backlog.push(dueAt);
        else this.#post(lane, dueAt);
        return this.#backlog.length < BACKLOG_ARRIVALS_MAX;
      },
    });
  }

  #post(lane: Lane, dueAt: number): void {
    this.#ledger.begin(this.#crew.send(lane, dueAt), dueAt);
  }

  /** The lane's answer has come: it posts again if it should and may, else it waits among the free ones. */
  #onReady(lane: Lane): void {
    const dueAt =
      this.#job.pace.ratePerSecond === null
        ? this.#nextTurnOf(lane)
        : (this.#backlog.shift() ?? this.#nextTurnOf(lane));
    if (dueAt === null) this.#free.push(lane);
    else this.#post(lane, dueAt);
  }

  /**
   * When the lane should post without being told: now in closed loop, once its post is complete, and at the end of a run while its
   * cycle is unfinished (whoever started typing stops); null when it has to wait.
   */
  #nextTurnOf(lane: Lane): number | null {
    const isClosedLoop = this.#job.pace.ratePerSecond === null;
    const isWanted = this.#sending ? isClosedLoop : this.#isFinishing && isMidCycle(lane);
    const isFree = lane.turn === -1 || this.#ledger.isComplete(lane.post);
    return isWanted && isFree ? performance.now() : null;
  }

  #finishCycles(): void {
    this.#sending = false;
    this.#isFinishing = true;
    const lanes = this.#free;
    this.#free = [];
    for (const lane of lanes) this.#onReady(lane);
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

  /** The post that a marker on the wire names; markers of other runs name posts that this run never sends. */
  #postOf(marker: number, turn: number): number {
    const inThisRun = (marker - this.#job.firstMarker + MARKERS_MAX) % MARKERS_MAX;
    return inThisRun * (this.#job.cycles[0]?.length ?? 1) + turn;
  }

  #keepSample(turn: number, read: () => string): void {
    this.#samples[turn] ??= read();
  }

  #see(post: number, receiver: number, now: number): void {
    const dueAt = this.#ledger.dueAt(post);
    if (dueAt === null) return;
    const seen = this.#ledger.see(post, receiver);
    if (seen === "again") return;
    this.#deliveries.complete(now);
    this.#deliveries.latency(dueAt, now);
    if (seen !== "last") return;
    this.#lastReceiver.latency(dueAt, now);
    if (this.#job.pace.ratePerSecond === null || this.#isFinishing) this.#continue(post);
  }

  /** The lane whose post has just become complete goes on, if its answer came before the last delivery. */
  #continue(post: number): void {
    const index = this.#free.findIndex((lane) => lane.post === post);
    if (index === -1) return;
    const [lane] = this.#free.splice(index, 1);
    if (lane !== undefined) this.#onReady(lane);
  }

  /** Closed loop: a lane whose post never became complete goes on, and the post counts as incomplete. */
  #sweep(): void {
    if (this.#job.pace.ratePerSecond !== null || !this.#sending) return;
    const now = performance.now();
    const late = this.#free.filter((lane) => now - lane.dueAt > DELIVERY_WAIT_MS);
    this.#free = this.#free.filter((lane) => !late.includes(lane));
    for (const lane of late) this.#post(lane, now);
  }
}

/** Whether the lane has begun a cycle that it has not finished. */
function isMidCycle(lane: Lane): boolean {
  return lane.turn !== -1 && lane.turn < lane.requests.length - 1;
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
