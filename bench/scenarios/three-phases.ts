// The three phases in which every durable change is measured, each compared with the baseline: as many as possible over
// N connections; a fixed rate in open loop; one client alone, whose change costs one turn and one flush. A fourth can
// follow on this server alone: half the rate that it reached, for the delay of its event loop when it has room.

import { httpPair } from "../lib/http-pair.ts";
import type { Cycle, HttpLoadResult } from "../lib/job.ts";
import {
  disturbanceNotes,
  failureChecks,
  latencyMeasures,
  latencySeries,
  measureOf,
  programNotes,
  throughputMeasures,
  throughputSeries,
} from "../lib/measures.ts";
import { percentileMs } from "../lib/recorder.ts";
import type { Check, Outcome } from "../lib/result.ts";
import { type Context, openBaseline, type Pair } from "../lib/scenario.ts";
import { spreadOf } from "../lib/statistics.ts";
import type { Server } from "../lib/target.ts";
import { checksOfBoth, inTwoPhases, notesOfBoth } from "../lib/two-phases.ts";
import type { Peer } from "../peers/peer.ts";
import { storedChecks } from "../peers/stored-check.ts";

export interface DurableChange {
  /** The scenario's name, for progress labels. */
  readonly name: string;
  /** The counted thing, plural and singular: `posts`, `post`. */
  readonly prefix: string;
  readonly noun: string;
  /** The senders, plural: `connections`, `users`. */
  readonly senders: string;
  readonly server: Server;
  /** The requests of each sender, in turn. */
  readonly cycles: readonly Cycle[];
  /** Our own server without a cluster: the baseline of a cluster. */
  readonly alone?: { readonly server: Server; readonly cycles: readonly Cycle[] } | null;
  /** Whether a journal is a second baseline, and half of the reached rate is measured. */
  readonly hasJournal?: boolean;
  /** Peers that make the same change, measured as well. */
  readonly peers?: readonly Peer[];
  /** Checks, after all phases, that the changes were really made. */
  check(): Promise<Check>;
}

/** The baseline is bare uWS + lmdb that stores the same form with the same durability (bench/baselines/send.ts). */
export async function threePhases(context: Context, change: DurableChange): Promise<Outcome> {
  const { settings } = context;
  const { name, prefix, noun, server, cycles, peers = [], hasJournal = false, alone: local = null } = change;
  const baseline = local?.server ?? (await openBaseline(context, { program: "baselines/send" }));
  const journal =
    hasJournal && local === null
      ? await openBaseline(context, { program: "baselines/journal", label: "journal" })
      : null;
  const phase = (label: string, ratePerSecond: number | null, connections = settings.connections) =>
    httpPair(context, {
      label: `${name}: ${label}`,
      server,
      baseline,
      journal,
      peers,
      cycles: (target) => (local !== null && target === baseline ? local.cycles : cycles),
      connections,
      ratePerSecond,
    });
  const phases = await inTwoPhases(settings.ratePerSecond, phase);
  const { most, paced } = phases;
  const alone = await phase("one client", null, 1);
  const half = hasJournal ? await halfLoad(context, change, most) : null;
  const rate = `${settings.ratePerSecond}/s`;
  const senders = `${settings.connections} ${change.senders}`;
  return {
    measures: [
      ...throughputMeasures({ prefix, noun, title: `${prefix}, ${senders}` }, most, (result) => result.perSecond),
      ...latencyMeasures(
        { prefix: "paced_latency", title: `latency at ${rate}`, perSecond: (r) => r.perSecond },
        paced,
        (result) => result.latency,
      ),
      measureOf({ key: "alone_p50_ms", title: "one client alone, p50", unit: "ms", better: "lower" }, alone, (result) =>
        percentileMs(result.latency, 50),
      ),
      ...(half?.measures ?? []),
    ],
    series: [
      throughputSeries(`${prefix} per second, ${senders}`, most, (result) => result.perSecond),
      latencySeries(`latency at ${rate}, open loop`, paced, (result) => result.latency),
    ],
    checks: [
      ...checksOfBoth(phases, failureChecks),
      ...failureChecks("one client", alone),
      ...(half?.checks ?? []),
      await change.check(),
      ...(await storedChecks(peers)),
    ],
    notes: [...notesOfBoth(phases), ...programNotes("one client", alone), ...disturbanceNotes("one client", alone)],
  };
}

/** This server alone, at half of the rate that it reached. */
async function halfLoad(
  context: Context,
  { name, server, cycles }: DurableChange,
  most: Pair<HttpLoadResult>,
): Promise<Pick<Outcome, "measures" | "checks">> {
  const reached = spreadOf(most.ours.map((result) => result.perSecond))?.median ?? 0;
  const ratePerSecond = Math.max(1, Math.round(reached / 2));
  const label = "half load";
  const pair = await httpPair(context, { label: `${name}: ${label}`, server, baseline: null, cycles, ratePerSecond });
  const title = `event-loop delay p99 at half load (${ratePerSecond}/s)`;
  return {
    measures: [
      measureOf(
        { key: "half_load_loop_delay_p99_ms", title, unit: "ms", better: "lower" },
        pair,
        (result) => result.usage.loopDelayMs?.p99 ?? null,
      ),
    ],
    checks: failureChecks(label, pair),
  };
}
