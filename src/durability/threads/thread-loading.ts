/**
 * Keeps the process from ending while one of its threads loads native add-ons. Node stops its threads when it ends; what
 * an add-on asks of Node fails then, and an add-on that is being loaded answers that by aborting the process (pitfalls
 * 1.2).
 */
import { getEnvironmentData, setEnvironmentData, type Worker } from "node:worker_threads";
import { commonLimits as limits } from "../../../schemas/limits/common.ts";

/** Where a thread finds its state. */
const stateName = "colloquy: loading";
const loading = 0;
const loaded = 1;

/** The states of the running threads. */
const states = new Set<Int32Array>();

/** @param start starts one thread, whose program calls `noteLoaded` */
export function startLoading(start: () => Worker): Worker {
  const state = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  setEnvironmentData(stateName, state);
  const worker = start();
  if (states.size === 0) process.on("exit", waitForLoading);
  states.add(state);
  worker.on("exit", () => {
    states.delete(state);
    if (states.size === 0) process.off("exit", waitForLoading);
  });
  return worker;
}

/** In a thread, after its imports. */
export function noteLoaded(): void {
  const state = getEnvironmentData(stateName);
  if (!(state instanceof Int32Array)) return;
  Atomics.store(state, 0, loaded);
  Atomics.notify(state, 0);
}

/** The process ends after this: nothing else has to run meanwhile. */
function waitForLoading(): void {
  for (const state of states) Atomics.wait(state, 0, loading, limits.exit_wait_ms_max / states.size);
}
