// Requests of several kinds in fixed shares over keep-alive connections, beside long polls that the posts among them answer. Every
// post must reach every queue exactly once. Latency is kept for each kind; for events it counts from when the post was due.

import { markerIn } from "../lib/http-request.ts";
import { MIXED_KINDS, type MixedJob, type MixedKind, type MixedResult } from "../lib/job.ts";
import { DELIVERY_WAIT_MS, DRAIN_MS, MARKERS_MAX } from "../lib/limits.ts";
import { Probe } from "../lib/probe.ts";
import { Recorder } from "../lib/recorder.ts";
import { Crew, type Lane } from "./crew.ts";
import { type Dispatcher, dispatcherFor } from "./dispatchers.ts";
import { Ledger } from "./ledger.ts";
import { Pollers } from "./pollers.ts";
import { drain, runWindow } from "./window.ts";

/** Runs the job. Rejects when connections break again and again. */
export async function runMixed(job: MixedJob): Promise<MixedResult> {
  const { pace } = job;
  const probe = new Probe(job.watch);
  const all = new Recorder(pace.durationMs);
  const polls = new Recorder(pace.durationMs);
  const ofKind = forEachKind(() => new Recorder(pace.durationMs));
  const ledger = new Ledger(job.queues.length);
  const dispatcher = dispatcherFor(pace);
  const round = roundOf(job.shares);
  const kindOf = (lane: Lane, turn: number): MixedKind => kindAt(round, turn + offsetOf(job, round, lane.index));
  const pollers = new Pollers(job.address, job.queues, {
    onAnswer: (now) => {
      polls.complete(now);
      all.complete(now);
    },
    onEvent: (index, event, now) => {
      const marker = markerIn(event.message?.content ?? "");
      if (marker === null) return;
      const post = (marker - job.firstMarker + MARKERS_MAX) % MARKERS_MAX;
      const dueAt = ledger.dueAt(post);
      if (dueAt === null || ledger.see(post, index) === "again") return;
      ofKind.events.latency(dueAt, now);
    },
  });
  const crew = new Crew({
    address: job.address,
    cycles: Array.from({ length: job.connections }, (_, index) => cycleOf(job, round, index)),
    connections: job.connections,
    firstMarker: job.firstMarker,
    isMarkerOfRequest: true,
    onReady: (lane) => dispatcher.onReady(lane),
    onLost: (lane) => dispatcher.onLost(lane),
    onAnswer: (lane, response, now) => {
      ofKind[kindOf(lane, lane.turn)].latency(lane.dueAt, now);
      if (response.status === 200) all.complete(now);
    },
    onSend: (lane) => {
      if (kindOf(lane, lane.turn) === "post") ledger.begin(lane.post, lane.dueAt);
    },
  });
  await crew.open();
  const unanswered = await carryOut({
    job,
    probe,
    crew,
    dispatcher,
    recorders: [all, polls, ...Object.values(ofKind)],
  });
  await drain(() => ledger.open, DELIVERY_WAIT_MS);
  crew.close();
  pollers.close();
  const failures = crew.failures(unanswered);
  return {
    perSecond: (all.completed * 1000) / all.elapsedMs,
    pollsPerSecond: (polls.completed * 1000) / polls.elapsedMs,
    throughput: all.throughput(),
    latency: forEachKind((kind) => ofKind[kind].summary()),
    incomplete: ledger.open,
    duplicates: ledger.duplicates,
    disordered: pollers.disordered,
    failures: {
      ...failures,
      brokenConnections: failures.brokenConnections + pollers.broken,
      firstBreak: failures.firstBreak === "" ? pollers.firstTrouble : failures.firstBreak,
    },
    usage: await probe.report(),
  };
}

/** Warm-up, window, and the answers that are still to come. @returns how many never came */
async function carryOut(options: {
  readonly job: MixedJob;
  readonly probe: Probe;
  readonly crew: Crew;
  readonly dispatcher: Dispatcher;
  readonly recorders: readonly Recorder[];
}): Promise<number> {
  const { job, probe, crew, dispatcher, recorders } = options;
  const load = dispatcher.run(crew, job.pace);
  await Promise.race([runWindow({ pace: job.pace, probe, recorders }), crew.failed]);
  dispatcher.stop();
  await load;
  const waiting = (): number => crew.busy + dispatcher.waiting;
  await drain(waiting, DRAIN_MS);
  return waiting();
}

/** Something for each kind of request, and for the events. */
function forEachKind<T>(make: (kind: MixedKind | "events") => T): Record<MixedKind | "events", T> {
  const kinds = ["events", ...MIXED_KINDS] as const;
  // Every kind is made here, so none is missing.
  return Object.fromEntries(kinds.map((kind) => [kind, make(kind)])) as Record<MixedKind | "events", T>;
}

/** One round of a connection: each kind as often as its share says, spread over the round as evenly as it goes. */
function roundOf(shares: MixedJob["shares"]): MixedKind[] {
  return MIXED_KINDS.flatMap((kind) =>
    Array.from({ length: shares[kind] }, (_, index) => ({ kind, at: (index + 0.5) / shares[kind] })),
  )
    .toSorted((a, b) => a.at - b.at)
    .map(({ kind }) => kind);
}

/** Connections begin at different places of the round, or all would post at the same time. */
function offsetOf(job: MixedJob, round: readonly MixedKind[], index: number): number {
  return Math.floor((index * round.length) / job.connections);
}

function kindAt(round: readonly MixedKind[], at: number): MixedKind {
  const kind = round[at % round.length];
  if (kind === undefined) throw new Error("a round without requests");
  return kind;
}

/** The requests of connection `index`; those of a kind in turn (typing start, typing stop). */
function cycleOf(job: MixedJob, round: readonly MixedKind[], index: number): string[] {
  const person = job.people[index % job.people.length];
  if (person === undefined) throw new Error("the mix needs people");
  const sent = new Map<MixedKind, number>();
  return round.map((_, turn) => {
    const kind = kindAt(round, turn + offsetOf(job, round, index));
    const count = sent.get(kind) ?? 0;
    sent.set(kind, count + 1);
    return person[kind][count % person[kind].length] ?? "";
  });
}
