// The framework of scenarios: sizes, targets, and runs in alternating order. A scenario defines what is measured; the
// framework defines the number of runs, their order and the baseline.

import type { Peer } from "../peers/peer.ts";
import type { ClusterServer } from "./cluster.ts";
import { runJob } from "./generator-process.ts";
import type { Job, Pace, ResultOf } from "./job.ts";
import type { Progress } from "./progress.ts";
import type { Outcome, Settings } from "./result.ts";
import { type Environment, type Prepare, type Server, startBaseline, type Target } from "./target.ts";
import { withTools } from "./tools.ts";
import type { Program, Workspace } from "./workspace.ts";

/** `tiny` runs in the tests, `small` when every scenario runs, `full` when a single one is requested. */
export type Size = "tiny" | "small" | "full";

export interface Scenario {
  readonly name: string;
  readonly summary: string;
  /** `ours`: another operation of the same server is measured instead of a baseline. */
  readonly baseline: Program | "scenarios/disk" | "ours";
  readonly sizes: Readonly<Record<Size, Settings>>;
  /** false: it must start the server itself, so it is skipped with a message when a URL is given. */
  readonly supportsUrl: boolean;
  /** What it needs and this machine does not have, as a line; null if it can run. */
  readonly missing?: () => string | null;
  /** Whether it can also measure peers. */
  readonly supportsPeers?: true;
  /** Whether a cluster can take the place of the server (`--cluster`): always, or `only` a cluster. */
  readonly supportsCluster?: true | "only";
  readonly run: (context: Context) => Promise<Outcome>;
}

/** The environment of a scenario. The caller closes all targets that it opens. */
export interface Context {
  readonly settings: Settings;
  readonly seed: number;
  readonly workspace: Workspace;
  readonly progress: Progress;
  /** Whether the server runs on this machine. Otherwise a local baseline cannot be compared with it. */
  readonly serverIsHere: boolean;
  /** Opens our server on an empty directory, or on a prepared one, or the server named on the command line. */
  readonly openServer: (prepare?: Prepare, environment?: Environment) => Promise<Server>;
  /**
   * With `--cluster`: starts our server without a cluster, which is the baseline then, so that the result is replicated
   * against local. Null otherwise.
   */
  readonly openAlone: () => Promise<Server | null>;
  /** With `--cluster`: starts the cluster, with long leases unless it is told otherwise. Rejects otherwise. */
  readonly openCluster: (leaseMs?: number | null) => Promise<ClusterServer>;
  /** Starts the requested peers that are installed, each with that many accounts in one channel. */
  readonly openPeers: (accounts: number) => Promise<readonly Peer[]>;
  /** Registers a target that must be stopped at the end. */
  readonly own: <T extends Target>(target: T) => T;
}

/** Results of the runs of both targets, in order; `baseline` is empty if there is none. */
export interface Pair<T> {
  readonly ours: readonly T[];
  readonly baseline: readonly T[];
  /** Runs of each peer, and of a second baseline, by its name; absent when there is none. */
  readonly peers?: Readonly<Record<string, readonly T[]>>;
}

/** All targets with their runs: this server, the baseline, then the peers. */
export function sidesOf<T>({
  ours,
  baseline,
  peers = {},
}: Pair<T>): readonly (readonly [label: string, runs: readonly T[]])[] {
  return [["ours", ours], ["baseline", baseline], ...Object.entries(peers)];
}

/**
 * Starts a baseline; null if the server is on another machine, because a local baseline could not be compared with it.
 */
export async function openBaseline(
  context: Context,
  baseline: Omit<Parameters<typeof startBaseline>[0], "workspace">,
): Promise<Target | null> {
  if (!context.serverIsHere) return null;
  return context.own(await startBaseline({ workspace: context.workspace, ...baseline }));
}

/** A baseline that sends the real server's bytes, selected by `METHOD /path` (bench/baselines/answer.ts). */
export function openAnswersBaseline(
  context: Context,
  answers: Readonly<Record<string, string>>,
): Promise<Target | null> {
  return openBaseline(context, { program: "baselines/answer", input: { variable: "ANSWERS_FILE", value: answers } });
}

/** Peers that take part in a phase, and how the phase runs on one. */
export interface PeerRuns<T> {
  readonly among: readonly Peer[];
  readonly run: (peer: Peer) => Promise<T>;
}

const NO_PEERS = { among: [], run: () => Promise.reject(new Error("no peer takes part")) };

/**
 * Runs A B, B A, A B, ..., so that a drift of the machine affects all targets alike. `seconds` is the duration of one
 * run, for the progress bar.
 */
export async function alternate<T>(
  context: Context,
  options: {
    readonly label: string;
    readonly seconds: number;
    readonly server: Server;
    readonly baseline: Target | null;
    readonly run: (target: Target) => Promise<T>;
    /** A second baseline. */
    readonly journal?: Target | null;
    /** The same load on each peer, in the peer's own protocol. */
    readonly peers?: PeerRuns<T>;
  },
): Promise<Pair<T>> {
  const { label, seconds, server, baseline, run, journal = null } = options;
  const { among, run: runPeer } = options.peers ?? NO_PEERS;
  const sides = [
    ...[server, baseline, journal].flatMap((target) => (target === null ? [] : { target, run: () => run(target) })),
    ...among.map((peer) => ({ target: peer, run: () => runPeer(peer) })),
  ].map((side) => ({ ...side, label: side.target.label, results: [] as T[] }));
  context.progress.plan(sides.length * context.settings.runs * seconds);
  for (let index = 0; index < context.settings.runs; index += 1) {
    for (const side of index % 2 === 0 ? sides : sides.toReversed()) {
      context.progress.label(`${label}, run ${index + 1} of ${context.settings.runs}, ${side.label}`);
      side.results.push(await side.run());
      context.progress.advance(seconds);
    }
  }
  const resultsOf = (wanted: string): readonly T[] => sides.find((side) => side.label === wanted)?.results ?? [];
  const pair = { ours: resultsOf("ours"), baseline: resultsOf("baseline") };
  const others = [...(journal === null ? [] : [journal]), ...among];
  if (others.length === 0) return pair;
  return { ...pair, peers: Object.fromEntries(others.map((other) => [other.label, resultsOf(other.label)])) };
}

/** Runs one job in a new generator process, with the tools of this machine that can do a part of it. */
export function generate<J extends Job>(context: Context, job: J): Promise<ResultOf[J["kind"]]> {
  return runJob(context.workspace, withTools(context.workspace, job));
}

/** The pace of a run: closed loop without a rate, open loop with one. */
export function paceOf(settings: Settings, ratePerSecond: number | null): Pace {
  return { warmupMs: settings.warmupSeconds * 1000, durationMs: settings.durationSeconds * 1000, ratePerSecond };
}

/** Planned seconds of one run. */
export function runSeconds(settings: Settings): number {
  return settings.warmupSeconds + settings.durationSeconds;
}
