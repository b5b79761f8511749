// The phases of most scenarios: maximum throughput in closed loop, then a fixed rate in open loop, which gives the
// latencies.

import { bottleneckNotes, disturbanceNotes, programNotes } from "./measures.ts";
import type { Usage } from "./probe.ts";
import type { Check } from "./result.ts";
import type { Pair } from "./scenario.ts";

/** The runs of both phases. */
export interface TwoPhases<T> {
  readonly most: Pair<T>;
  readonly paced: Pair<T>;
}

const THROUGHPUT = "throughput";
const FIXED_RATE = "fixed rate";

/** @param phase runs one of them, at a rate or, if it is null, in closed loop */
export async function inTwoPhases<T>(
  ratePerSecond: number,
  phase: (label: string, ratePerSecond: number | null) => Promise<Pair<T>>,
): Promise<TwoPhases<T>> {
  const most = await phase(THROUGHPUT, null);
  const paced = await phase(FIXED_RATE, ratePerSecond);
  return { most, paced };
}

/** The same check for the throughput and for the fixed rate. */
export function checksOfBoth<T>(phases: TwoPhases<T>, check: (phase: string, pair: Pair<T>) => Check[]): Check[] {
  return [...check(THROUGHPUT, phases.most), ...check(FIXED_RATE, phases.paced)];
}

/** Notes: the programs that made the load, the bottleneck of the throughput phase, disturbances of the fixed rate. */
export function notesOfBoth<T extends { readonly usage: Usage; readonly sender: string; readonly receiver?: string }>({
  most,
  paced,
}: TwoPhases<T>): string[] {
  return [
    ...programNotes(THROUGHPUT, most),
    ...bottleneckNotes(THROUGHPUT, most),
    ...programNotes(FIXED_RATE, paced),
    ...disturbanceNotes(FIXED_RATE, paced),
  ];
}
