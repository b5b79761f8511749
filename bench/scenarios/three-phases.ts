// The three phases in which every durable change is measured, each compared with the baseline: as many as possible over
// N connections; a fixed rate in open loop; one client alone, whose change costs one turn and one flush.

import { httpPair } from "../lib/http-pair.ts";
import type { Cycle } from "../lib/job.ts";
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
import { type Context, openBaseline } from "../lib/scenario.ts";
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
  /** Peers that make the same change, measured as well. */
  readonly peers?: readonly Peer[];
  /** Checks, after all phases, that the changes were really made. */
  check(): Promise<Check>;
}

/** The baseline is bare uWS + lmdb that stores the same form with the same durability (bench/baselines/send.ts). */
export async function threePhases(context: Context, change: DurableChange): Promise<Outcome> {
  const { settings } = context;
  const { name, prefix, noun, server, cycles, peers = [] } = change;
  const baseline = await openBaseline(context, { program: "baselines/send" });
  const phase = (label: string, ratePerSecond: number | null, connections = settings.connections) =>
    httpPair(context, { label: `${name}: ${label}`, server, baseline, peers, cycles, connections, ratePerSecond });
  const phases = await inTwoPhases(settings.ratePerSecond, phase);
  const { most, paced } = phases;
  const alone = await phase("one client", null, 1);
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
    ],
    series: [
      throughputSeries(`${prefix} per second, ${senders}`, most, (result) => result.perSecond),
      latencySeries(`latency at ${rate}, open loop`, paced, (result) => result.latency),
    ],
    checks: [
      ...checksOfBoth(phases, failureChecks),
      ...failureChecks("one client", alone),
      await change.check(),
      ...(await storedChecks(peers)),
    ],
    notes: [...notesOfBoth(phases), ...programNotes("one client", alone), ...disturbanceNotes("one client", alone)],
  };
}
