// The result of a scenario as data, from which text table, JSON and HTML page are built.

import type { Point } from "./recorder.ts";
import type { Spread } from "./statistics.ts";

/** The same number for a peer, and this server's divided by it. */
export interface PeerMeasure {
  readonly value: Spread | null;
  readonly ratio: Spread | null;
}

/** One number with its spread over the runs: this server, the baseline, and the requested peers. */
export interface Measure {
  /** Stable name for programs, unit last: `posts_per_s`, `latency_p99_ms`. */
  readonly key: string;
  readonly title: string;
  readonly unit: string;
  readonly better: "higher" | "lower";
  /** Null: not measurable here (a remote server, no metrics file, no /proc). */
  readonly ours: Spread | null;
  readonly baseline: Spread | null;
  /** This server's number divided by the baseline's; null if one of them is missing. */
  readonly ratio: Spread | null;
  /** By the name of the peer, or `journal`, a second baseline; absent if there is neither. */
  readonly peers?: Readonly<Record<string, PeerMeasure>>;
  /**
   * The targets of which a run had a saturated generator. Their numbers are bounds (a faster generator finds a better
   * one), and so are the ratios. Absent if there is none.
   */
  readonly saturated?: readonly string[];
  /** CPU of the server process per operation, in microseconds, in the same runs. */
  readonly cpuUs?: Pick<Measure, "ours" | "baseline" | "ratio">;
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

/** A condition without which the numbers mean nothing. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** Whether a table has a value to show for it. */
export function isMeasured(measure: Measure): boolean {
  return measure.ours !== null || measure.baseline !== null;
}

/** The peers in any of the measures, in order. */
export function peersIn(measures: readonly Measure[]): readonly string[] {
  return [...new Set(measures.flatMap(({ peers = {} }) => Object.keys(peers)))];
}

/** The result of a scenario's runs. */
export interface Outcome {
  readonly measures: readonly Measure[];
  readonly series: readonly Series[];
  readonly checks: readonly Check[];
  /** Notes needed to interpret the numbers, as sentences. */
  readonly notes: readonly string[];
}

/** The size of a scenario. It is part of the result, so that every number is reported with its size. */
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
  /** Accounts created for the scenario. */
  readonly users: number;
  /** WebSocket receivers in addition to the load (`typing`). */
  readonly receivers: number;
  /** Messages stored before the start (`history`). */
  readonly messages?: number;
  /** Other users of the organization, written before the server starts. */
  readonly people?: number;
}

export interface ScenarioResult extends Outcome {
  readonly scenario: string;
  readonly summary: string;
  /** The HTTP implementation of the measured servers; absent in results of older revisions. */
  readonly transports?: readonly string[];
  readonly settings: Settings;
  /** The baseline's file, or what is used instead. */
  readonly baselineProgram: string;
  readonly startedAt: string;
  readonly tookSeconds: number;
}

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly kernel: string;
  readonly node: string;
  /** Load average of the minute before the first run. Above 0.5, other programs were running. */
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

/** "native", "node", or both; "unknown" in results of older revisions. */
export function transportsIn({ scenarios }: Report): string {
  const all = new Set(scenarios.flatMap(({ transports = [] }) => transports));
  return all.size === 0 ? "unknown" : [...all].join(" and ");
}
