// The phases of a run: warm-up, measured window, drain. Recorders and probe open and close together, so that CPU,
// counts and latencies are measured over the same seconds.

import { setTimeout as wait } from "node:timers/promises";
import type { Pace } from "../lib/job.ts";
import type { Probe } from "../lib/probe.ts";
import type { Recorder } from "../lib/recorder.ts";

const DRAIN_LOOK_MS = 5;

/** Resolves when the measured window has closed; starts with the warm-up, now. */
export async function runWindow(options: {
  readonly pace: Pace;
  readonly probe: Probe;
  readonly recorders: readonly Recorder[];
}): Promise<void> {
  const { pace, probe, recorders } = options;
  await wait(pace.warmupMs);
  probe.open();
  const from = performance.now();
  for (const recorder of recorders) recorder.open(from);
  await wait(pace.durationMs);
  const to = performance.now();
  for (const recorder of recorders) recorder.close(to);
  probe.close();
}

/** Waits until nothing is pending, at most `maxMs`. */
export async function drain(pending: () => number, maxMs: number): Promise<void> {
  const until = performance.now() + maxMs;
  while (pending() > 0 && performance.now() < until) await wait(DRAIN_LOOK_MS);
}
