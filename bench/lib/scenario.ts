// The frame of a scenario: sizes, targets, runs in alternating order. A scenario file says what is measured; how often, in which
// order and against what is decided here, the same for all.

import type { Peer } from "../peers/peer.ts";
import { runJob } from "./generator-process.ts";
import type { Job, Pace, ResultOf } from "./job.ts";
import type { Progress } from "./progress.ts";
import type { Outcome, Settings } from "./result.ts";
import { type Prepare, type Server, startFloor, type Target } from "./target.ts";
import type { Program, Workspace } from "./workspace.ts";

/** `tiny` runs in the tests, `small` when every scenario runs, `full` when one is asked for. */
export type Size = "tiny" | "small" | "full";

export interface Scenario {
  readonly name: string;
  readonly summary: string;
  /** `ours`: something ordinary that the same server does stands where the floor stands elsewhere. */
  readonly floor: Program | "scenarios/disk" | "ours";
  readonly sizes: Readonly<Record<Size, Settings>>;
  /** False: it must start the server itself, so a server with a URL is skipped with a line. */
  readonly worksOnUrl: boolean;
  /** It can put peers beside ours and the floor. */
  readonly takesPeers?: true;
  readonly run: (context: Context) => Promise<Outcome>;
}

/** What a scenario works with. Targets that it opens are closed by the caller, whatever happens. */
export interface Context {
  readonly settings: Settings;
  readonly seed: number;
  readonly workspace: Workspace;
  readonly progress: Progress;
  /** Whether the server runs on this machine: only then does a floor beside it mean anything. */
  readonly serverIsHere: boolean;
  /** Our server on an empty directory, or one that is filled first, or the one that the command line names. */
  readonly openServer: (prepare?: Prepare) => Promise<Server>;
  /** Starts the peers that were asked for and are installed, each with so many accounts in one channel; none when none was. */
  readonly openPeers: (accounts: number) => Promise<readonly Peer[]>;
  /** Takes over a target that must be stopped at the end. */
  readonly own: <T extends Target>(target: T) => T;
}

/** Results of the runs of both targets, in the order they were made; `floor` is empty when there is none. */
export interface Pair<T> {
  readonly ours: readonly T[];
  readonly floor: readonly T[];
  /** Runs of each peer by its name; missing when none takes part. */
  readonly peers?: Readonly<Record<string, readonly T[]>>;
}

/** Who ran, with the runs of each: ours, the floor, then the peers. */
export function sidesOf<T>({
  ours,
  floor,
  peers = {},
}: Pair<T>): readonly (readonly [label: string, runs: readonly T[]])[] {
  return [["ours", ours], ["floor", floor], ...Object.entries(peers)];
}

/** Starts a floor; null when the server is on another machine, where a floor here says nothing. */
export async function openFloor(
  context: Context,
  floor: { readonly program: Program; readonly input?: { readonly variable: string; readonly value: unknown } },
): Promise<Target | null> {
  if (!context.serverIsHere) return null;
  return context.own(await startFloor({ workspace: context.workspace, ...floor }));
}

/** A floor that answers the very bytes that our server answered, told apart by `METHOD /path` (bench/floors/answer.ts). */
export function openAnswersFloor(context: Context, answers: Readonly<Record<string, string>>): Promise<Target | null> {
  return openFloor(context, { program: "floors/answer", input: { variable: "ANSWERS_FILE", value: answers } });
}

/** Peers that take part in a phase, and how the phase runs on one. */
export interface PeerRuns<T> {
  readonly among: readonly Peer[];
  readonly run: (peer: Peer) => Promise<T>;
}

const NO_PEERS = { among: [], run: () => Promise.reject(new Error("no peer takes part")) };

/** A B, B A, A B, ...: a drift of the machine hits all targets alike. `seconds` is what one run takes, for the progress bar. */
export async function alternate<T>(
  context: Context,
  options: {
    readonly label: string;
    readonly seconds: number;
    readonly server: Server;
    readonly floor: Target | null;
    readonly run: (target: Target) => Promise<T>;
    /** The same load on each peer, in the peer's own words. */
    readonly peers?: PeerRuns<T>;
  },
): Promise<Pair<T>> {
  const { label, seconds, server, floor, run } = options;
  const { among, run: runPeer } = options.peers ?? NO_PEERS;
  const sides = [
    ...[server, ...(floor === null ? [] : [floor])].map((target) => ({ target, run: () => run(target) })),
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
  const pair = { ours: resultsOf("ours"), floor: resultsOf("floor") };
  if (among.length === 0) return pair;
  return { ...pair, peers: Object.fromEntries(among.map((peer) => [peer.label, resultsOf(peer.label)])) };
}

/** Runs one job in a fresh generator process. */
export function generate<J extends Job>(context: Context, job: J): Promise<ResultOf[J["kind"]]> {
  return runJob(context.workspace, job);
}

/** The pace of a run: closed loop without a rate, open loop with one. */
export function paceOf(settings: Settings, ratePerSecond: number | null): Pace {
  return { warmupMs: settings.warmupSeconds * 1000, durationMs: settings.durationSeconds * 1000, ratePerSecond };
}

/** Planned seconds of one run. */
export function runSeconds(settings: Settings): number {
  return settings.warmupSeconds + settings.durationSeconds;
}
