// What a scenario reports, as data: text table, JSON and HTML page are all made from it.

import type { Point } from "./recorder.ts";
import type { Spread } from "./statistics.ts";

/** The same number of a peer, and ours divided by it. */
export interface PeerMeasure {
  readonly value: Spread | null;
  readonly ratio: Spread | null;
}

/** One number with its spread over the runs, ours beside the floor, and beside the peers that were asked for. */
export interface Measure {
  /** Stable name for programs, unit last: `posts_per_s`, `latency_p99_ms`. */
  readonly key: string;
  readonly title: string;
  readonly unit: string;
  readonly better: "higher" | "lower";
  /** Null: not measurable here (a server elsewhere, no metrics file, no /proc). */
  readonly ours: Spread | null;
  readonly floor: Spread | null;
  /** Ours divided by the floor; null when one of them is missing. */
  readonly ratio: Spread | null;
  /** By the peer's name; missing when no peer took part. */
  readonly peers?: Readonly<Record<string, PeerMeasure>>;
}

export interface Line {
  readonly label: string;
  readonly points: readonly Point[];
}

export interface Series {
  readonly kind: "latency" | "throughput" | "memory";
  readonly title: string;
  readonly xUnit: string;
  readonly yUnit: string;
  readonly lines: readonly Line[];
}

/** Something that must hold for the numbers to mean anything. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** Whether a table has anything to show for it. */
export function isMeasured(measure: Measure): boolean {
  return measure.ours !== null || measure.floor !== null;
}

/** The peers that took part in any of the measures, in order. */
export function peersIn(measures: readonly Measure[]): readonly string[] {
  return [...new Set(measures.flatMap(({ peers = {} }) => Object.keys(peers)))];
}

/** What a scenario finds out. */
export interface Outcome {
  readonly measures: readonly Measure[];
  readonly series: readonly Series[];
  readonly checks: readonly Check[];
  /** What a reader must know to read the numbers right, in sentences. */
  readonly notes: readonly string[];
}

/** How big a scenario is. All of it is in the result, so that a figure is never without its size. */
export interface Settings {
  /** Connections that send; receivers in `fanout`, sockets in `idle`. */
  readonly connections: number;
  /** Arrivals per second of the open-loop phase. */
  readonly ratePerSecond: number;
  /** Measured window of each run. */
  readonly durationSeconds: number;
  readonly warmupSeconds: number;
  /** Runs of each phase and target. */
  readonly runs: number;
  /** Accounts made for the scenario. */
  readonly users: number;
  /** WebSocket receivers beside the load (`typing`). */
  readonly receivers: number;
  /** Messages that are stored before it begins (`history`). */
  readonly messages?: number;
  /** Others in the organization, who are written before the server starts. */
  readonly people?: number;
}

export interface ScenarioResult extends Outcome {
  readonly scenario: string;
  readonly summary: string;
  readonly settings: Settings;
  /** Its file, or who else stands in its place. */
  readonly floorProgram: string;
  readonly startedAt: string;
  readonly tookSeconds: number;
}

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly kernel: string;
  readonly node: string;
  /** Load average of one minute before the first run: above 0.5 somebody else was at work. */
  readonly loadBefore: number;
  /** Median time of a 4 KB write with fdatasync on the disk that holds the data. */
  readonly fdatasyncUs: number;
}

export interface Report {
  readonly format: 1;
  readonly date: string;
  readonly command: string;
  readonly server: string;
  readonly seed: number;
  readonly machine: Machine;
  readonly scenarios: readonly ScenarioResult[];
}
