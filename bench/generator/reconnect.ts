// A reconnect storm: sockets that are all dropped at once, reconnect as fast as they are admitted, and resume after
// their last event, while posts continue at a fixed rate. Every receiver must see every post exactly once, including
// posts from the time when it was disconnected.

import { runArrivals } from "../lib/arrivals.ts";
import { markersIn } from "../lib/http-request.ts";
import type { ReconnectJob, ReconnectResult } from "../lib/job.ts";
import { DELIVERY_WAIT_MS, MARKERS_MAX, RETURNS_AT_ONCE } from "../lib/limits.ts";
import { Probe } from "../lib/probe.ts";
import { Recorder } from "../lib/recorder.ts";
import { ConnectionPool, type PooledConnection } from "./connection-pool.ts";
import { ReceiptTracker } from "./receipt-tracker.ts";
import { ReceiverPool } from "./receiver-pool.ts";
import { drain } from "./window.ts";

/** Posting connections: enough to send on time although one response is slow. */
const CONNECTIONS = 4;

/** Runs the job. Rejects when a receiver is rejected or connections break repeatedly. */
export async function runReconnect(job: ReconnectJob): Promise<ReconnectResult> {
  const { pace, receivers } = job;
  const receipts = new ReceiptTracker(receivers.count);
  /** The last frame of each: its event id is read when it is needed. */
  const lastFrames: Buffer[] = [];
  const receiverPool = new ReceiverPool(job.address, receivers, {
    onFrame: (index, bytes, from, to) => {
      const payload = Buffer.from(bytes.subarray(from, to));
      lastFrames[index] = payload;
      for (const marker of markersIn(payload)) {
        const post = (marker - job.firstMarker + MARKERS_MAX) % MARKERS_MAX;
        if (receipts.dueAt(post) !== null) receipts.see(post, index);
      }
    },
  });
  const posts = new Posts(job, receipts);
  await receiverPool.openUntil(receivers.count);
  await posts.open();
  const probe = new Probe(job.watch);
  const resumes = new Recorder(pace.durationMs);
  let allLiveMs = 0;
  const storm = async (): Promise<void> => {
    probe.open();
    const droppedAt = performance.now();
    resumes.open(droppedAt);
    await receiverPool.dropAndResume({
      atOnce: RETURNS_AT_ONCE,
      lastEventIdOf: (index) => eventIdOf(lastFrames[index]),
      onLive: (startedAt) => resumes.latency(startedAt, performance.now()),
    });
    allLiveMs = performance.now() - droppedAt;
    probe.close();
  };
  await posts.run(storm);
  await drain(() => receipts.open + posts.pending, DELIVERY_WAIT_MS);
  const failures = posts.close();
  const usage = await probe.report();
  const { lost, firstClose } = receiverPool;
  const { open: incomplete, duplicates } = receipts;
  await receiverPool.close();
  return {
    ...{ posts: posts.sent, allLiveMs, resume: resumes.summary(), incomplete, duplicates },
    ...{ closedReceivers: lost, firstClose, failures, usage },
  };
}

/** Posts in open loop, each recorded by the receipt tracker. */
class Posts {
  readonly #job: ReconnectJob;
  readonly #pool: ConnectionPool;
  #free: PooledConnection[] = [];
  #backlog: number[] = [];
  #sent = 0;

  constructor(job: ReconnectJob, receipts: ReceiptTracker) {
    this.#job = job;
    this.#pool = new ConnectionPool({
      address: job.address,
      cycles: job.cycles,
      connections: CONNECTIONS,
      firstMarker: job.firstMarker,
      isMarkerOfRequest: true,
      onSend: (pooled) => {
        this.#sent += 1;
        receipts.begin(pooled.post, pooled.dueAt);
      },
      onReady: (pooled) => {
        const dueAt = this.#backlog.shift();
        if (dueAt === undefined) this.#free.push(pooled);
        else this.#pool.send(pooled, dueAt);
      },
      onAnswer: () => undefined,
      onLost: (pooled) => {
        this.#free = this.#free.filter((other) => other !== pooled);
      },
    });
  }

  get sent(): number {
    return this.#sent;
  }

  get pending(): number {
    return this.#pool.busy + this.#backlog.length;
  }

  open(): Promise<void> {
    return this.#pool.open();
  }

  /**
   * Posts through warm-up and window. `meanwhile` starts with the first post after the warm-up, so that there is an
   * event to resume after.
   */
  async run(meanwhile: () => Promise<void>): Promise<void> {
    const { ratePerSecond, warmupMs, durationMs } = this.#job.pace;
    const fromMs = performance.now();
    let work: Promise<void> | null = null;
    await Promise.race([
      this.#pool.failed,
      runArrivals({
        ratePerSecond,
        fromMs,
        untilMs: fromMs + warmupMs + durationMs,
        onArrival: (dueAt) => {
          const pooled = this.#free.shift();
          if (pooled === undefined) this.#backlog.push(dueAt);
          else this.#pool.send(pooled, dueAt);
          if (dueAt >= fromMs + warmupMs) work ??= meanwhile();
          return true;
        },
      }),
    ]);
    await work;
  }

  close() {
    const failures = this.#pool.failures(this.pending);
    this.#pool.close();
    return failures;
  }
}

interface Frame {
  readonly event?: { readonly id: number };
  readonly events?: readonly { readonly id: number }[];
}

/**
 * The id of the newest event in a frame. A socket must not be dropped before its first event, because there would be
 * nothing to resume after.
 */
function eventIdOf(frame: Buffer | undefined): number {
  const { event, events } = JSON.parse(frame?.toString("utf8") ?? "{}") as Frame;
  const id = events?.at(-1)?.id ?? event?.id;
  if (id === undefined) throw new Error("a socket was dropped before it had seen an event: choose a longer warm-up");
  return id;
}
