// A storm: sockets that are all dropped at once, come back as fast as they are let in, and resume after the last event that each
// has seen, while posts go on at a fixed rate. Every receiver must see every post exactly once, those of the time when it was away, too.

import { runArrivals } from "../lib/arrivals.ts";
import { markersIn } from "../lib/http-request.ts";
import type { ReconnectJob, ReconnectResult } from "../lib/job.ts";
import { DELIVERY_WAIT_MS, MARKERS_MAX, RETURNS_AT_ONCE } from "../lib/limits.ts";
import { Probe } from "../lib/probe.ts";
import { Recorder } from "../lib/recorder.ts";
import { Crew, type Lane } from "./crew.ts";
import { Crowd } from "./crowd.ts";
import { Ledger } from "./ledger.ts";
import { drain } from "./window.ts";

/** Posting connections: enough that one slow answer does not hold up the next post. */
const CONNECTIONS = 4;

/** Runs the job. Rejects when a receiver is refused or connections break again and again. */
export async function runReconnect(job: ReconnectJob): Promise<ReconnectResult> {
  const { pace, receivers } = job;
  const ledger = new Ledger(receivers.count);
  /** The last frame of each: its event id is read when it is needed. */
  const lastFrames: Buffer[] = [];
  const crowd = new Crowd(job.address, receivers, {
    onFrame: (index, bytes, from, to) => {
      const payload = Buffer.from(bytes.subarray(from, to));
      lastFrames[index] = payload;
      for (const marker of markersIn(payload)) {
        const post = (marker - job.firstMarker + MARKERS_MAX) % MARKERS_MAX;
        if (ledger.dueAt(post) !== null) ledger.see(post, index);
      }
    },
  });
  const posts = new Posts(job, ledger);
  await crowd.openUntil(receivers.count);
  await posts.open();
  const probe = new Probe(job.watch);
  const resumes = new Recorder(pace.durationMs);
  let allLiveMs = 0;
  const storm = async (): Promise<void> => {
    probe.open();
    const droppedAt = performance.now();
    resumes.open(droppedAt);
    await crowd.dropAndResume({
      atOnce: RETURNS_AT_ONCE,
      lastEventIdOf: (index) => eventIdOf(lastFrames[index]),
      onLive: (startedAt) => resumes.latency(startedAt, performance.now()),
    });
    allLiveMs = performance.now() - droppedAt;
    probe.close();
  };
  await posts.run(storm);
  await drain(() => ledger.open + posts.pending, DELIVERY_WAIT_MS);
  const failures = posts.close();
  const usage = await probe.report();
  const { lost, firstClose } = crowd;
  const { open: incomplete, duplicates } = ledger;
  await crowd.close();
  return {
    ...{ posts: posts.sent, allLiveMs, resume: resumes.summary(), incomplete, duplicates },
    ...{ closedReceivers: lost, firstClose, failures, usage },
  };
}

/** Posts in open loop, each noted in the ledger. */
class Posts {
  readonly #job: ReconnectJob;
  readonly #crew: Crew;
  #free: Lane[] = [];
  #backlog: number[] = [];
  #sent = 0;

  constructor(job: ReconnectJob, ledger: Ledger) {
    this.#job = job;
    this.#crew = new Crew({
      address: job.address,
      cycles: job.cycles,
      connections: CONNECTIONS,
      firstMarker: job.firstMarker,
      isMarkerOfRequest: true,
      onSend: (lane) => {
        this.#sent += 1;
        ledger.begin(lane.post, lane.dueAt);
      },
      onReady: (lane) => {
        const dueAt = this.#backlog.shift();
        if (dueAt === undefined) this.#free.push(lane);
        else this.#crew.send(lane, dueAt);
      },
      onAnswer: () => undefined,
      onLost: (lane) => {
        this.#free = this.#free.filter((other) => other !== lane);
      },
    });
  }

  get sent(): number {
    return this.#sent;
  }

  get pending(): number {
    return this.#crew.busy + this.#backlog.length;
  }

  open(): Promise<void> {
    return this.#crew.open();
  }

  /** Posts through warm-up and window; `meanwhile` begins with the first post after the warm-up, so that there is a post to resume after. */
  async run(meanwhile: () => Promise<void>): Promise<void> {
    const { ratePerSecond, warmupMs, durationMs } = this.#job.pace;
    const fromMs = performance.now();
    let work: Promise<void> | null = null;
    await Promise.race([
      this.#crew.failed,
      runArrivals({
        ratePerSecond,
        fromMs,
        untilMs: fromMs + warmupMs + durationMs,
        onArrival: (dueAt) => {
          const lane = this.#free.shift();
          if (lane === undefined) this.#backlog.push(dueAt);
          else this.#crew.send(lane, dueAt);
          if (dueAt >= fromMs + warmupMs) work ??= meanwhile();
          return true;
        },
      }),
    ]);
    await work;
  }

  close() {
    const failures = this.#crew.failures(this.pending);
    this.#crew.close();
    return failures;
  }
}

interface Frame {
  readonly event?: { readonly id: number };
  readonly events?: readonly { readonly id: number }[];
}

/** The id of the newest event in a frame. Nobody is dropped before the first event: without one there is nothing to resume after. */
function eventIdOf(frame: Buffer | undefined): number {
  const { event, events } = JSON.parse(frame?.toString("utf8") ?? "{}") as Frame;
  const id = events?.at(-1)?.id ?? event?.id;
  if (id === undefined) throw new Error("a socket was dropped before it had seen an event: choose a longer warm-up");
  return id;
}
