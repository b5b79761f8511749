// Requests of several kinds in fixed shares over keep-alive connections, and long polls that the posts among them
// answer. Every post must reach every queue exactly once. Latency is recorded per kind; for events it counts from the
// post's due time.

import { markerIn } from "../lib/http-request.ts";
import { KIT_SENDER, MIXED_KINDS, type MixedJob, type MixedKind, type MixedResult } from "../lib/job.ts";
import { DELIVERY_WAIT_MS, DRAIN_MS, MARKERS_MAX } from "../lib/limits.ts";
import { Probe } from "../lib/probe.ts";
import { Recorder } from "../lib/recorder.ts";
import { ConnectionPool, type PooledConnection } from "./connection-pool.ts";
import { type Dispatcher, dispatcherFor } from "./dispatchers.ts";
import { Pollers } from "./pollers.ts";
import { ReceiptTracker } from "./receipt-tracker.ts";
import { drain, runWindow } from "./window.ts";

/** Runs the job. Rejects when connections break repeatedly. */
export async function runMixed(job: MixedJob): Promise<MixedResult> {
  const { pace } = job;
  const probe = new Probe(job.watch);
  const all = new Recorder(pace.durationMs);
  const polls = new Recorder(pace.durationMs);
  const ofKind = forEachKind(() => new Recorder(pace.durationMs));
  const receipts = new ReceiptTracker(job.queues.length);
  const dispatcher = dispatcherFor(pace);
  const round = roundOf(job.shares);
  const kindOf = (pooled: PooledConnection, turn: number): MixedKind =>
    kindAt(round, turn + offsetOf(job, round, pooled.index));
  const pollers = new Pollers(job.address, job.queues, {
    onAnswer: (now) => {
      polls.complete(now);
      all.complete(now);
    },
    onEvent: (index, event, now) => {
      const marker = markerIn(event.message?.content ?? "");
      if (marker === null) return;
      const post = (marker - job.firstMarker + MARKERS_MAX) % MARKERS_MAX;
      const dueAt = receipts.dueAt(post);
      if (dueAt === null || receipts.see(post, index) === "again") return;
      ofKind.events.latency(dueAt, now);
    },
  });
  const pool = new ConnectionPool({
    address: job.address,
    cycles: Array.from({ length: job.connections }, (_, index) => cycleOf(job, round, index)),
    connections: job.connections,
    firstMarker: job.firstMarker,
    isMarkerOfRequest: true,
    onReady: (pooled) => dispatcher.onReady(pooled),
    onLost: (pooled) => dispatcher.onLost(pooled),
    onAnswer: (pooled, response, now) => {
      ofKind[kindOf(pooled, pooled.turn)].latency(pooled.dueAt, now);
      if (response.status === 200) all.complete(now);
    },
    onSend: (pooled) => {
      if (kindOf(pooled, pooled.turn) === "post") receipts.begin(pooled.post, pooled.dueAt);
    },
  });
  await pool.open();
  const unanswered = await execute({
    job,
    probe,
    pool,
    dispatcher,
    recorders: [all, polls, ...Object.values(ofKind)],
  });
  await drain(() => receipts.open, DELIVERY_WAIT_MS);
  pool.close();
  pollers.close();
  const failures = pool.failures(unanswered);
  return {
    sender: KIT_SENDER,
    perSecond: (all.completed * 1000) / all.elapsedMs,
    pollsPerSecond: (polls.completed * 1000) / polls.elapsedMs,
    throughput: all.throughput(),
    latency: forEachKind((kind) => ofKind[kind].summary()),
    incomplete: receipts.open,
    duplicates: receipts.duplicates,
    disordered: pollers.disordered,
    failures: {
      ...failures,
      brokenConnections: failures.brokenConnections + pollers.broken,
      firstBreak: failures.firstBreak === "" ? pollers.firstTrouble : failures.firstBreak,
    },
    usage: await probe.report(),
  };
}

/** Runs warm-up and window, and waits for outstanding responses. @returns how many never arrived */
async function execute(options: {
  readonly job: MixedJob;
  readonly probe: Probe;
  readonly pool: ConnectionPool;
  readonly dispatcher: Dispatcher;
  readonly recorders: readonly Recorder[];
}): Promise<number> {
  const { job, probe, pool, dispatcher, recorders } = options;
  const load = dispatcher.run(pool, job.pace);
  await Promise.race([runWindow({ pace: job.pace, probe, recorders }), pool.failed]);
  dispatcher.stop();
  await load;
  const waiting = (): number => pool.busy + dispatcher.waiting;
  await drain(waiting, DRAIN_MS);
  return waiting();
}

/** One value for each kind of request, and for the events. */
function forEachKind<T>(make: (kind: MixedKind | "events") => T): Record<MixedKind | "events", T> {
  const kinds = ["events", ...MIXED_KINDS] as const;
  // Every kind is created here, so none is missing.
  return Object.fromEntries(kinds.map((kind) => [kind, make(kind)])) as Record<MixedKind | "events", T>;
}

/** One round of a connection: each kind as often as its share says, spread as evenly as possible. */
function roundOf(shares: MixedJob["shares"]): MixedKind[] {
  return MIXED_KINDS.flatMap((kind) =>
    Array.from({ length: shares[kind] }, (_, index) => ({ kind, at: (index + 0.5) / shares[kind] })),
  )
    .toSorted((a, b) => a.at - b.at)
    .map(({ kind }) => kind);
}

/** Connections start at different positions of the round, otherwise all would post at the same time. */
function offsetOf(job: MixedJob, round: readonly MixedKind[], index: number): number {
  return Math.floor((index * round.length) / job.connections);
}

function kindAt(round: readonly MixedKind[], at: number): MixedKind {
  const kind = round[at % round.length];
  if (kind === undefined) throw new Error("a round without requests");
  return kind;
}

/** The requests of connection `index`. The requests of one kind alternate (typing start, typing stop). */
function cycleOf(job: MixedJob, round: readonly MixedKind[], index: number): string[] {
  const person = job.people[index % job.people.length];
  if (person === undefined) throw new Error("the mix needs users");
  const sent = new Map<MixedKind, number>();
  return round.map((_, turn) => {
    const kind = kindAt(round, turn + offsetOf(job, round, index));
    const count = sent.get(kind) ?? 0;
    sent.set(kind, count + 1);
    return person[kind][count % person[kind].length] ?? "";
  });
}
