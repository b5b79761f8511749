// Describes the machine of the measurements, including the number that determines durable throughput: the duration of a
// flush.

import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { cpus, loadavg, release, totalmem, type } from "node:os";
import { join } from "node:path";
import type { Machine } from "./result.ts";
import { medianOf } from "./statistics.ts";

const FLUSH_BYTES = 4096;
const FLUSHES = 40;

/** Describes this machine; `folder` is where the data will be. Takes some tens of milliseconds. */
export function describeMachine(folder: string): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryBytes: totalmem(),
    kernel: `${type()} ${release()}`,
    node: process.version,
    loadBefore: loadavg()[0] ?? 0,
    fdatasyncUs: measureFlushUs(folder),
  };
}

/** Each write extends the file, as in a growing store. */
export function measureFlushUs(folder: string): number {
  const file = openSync(join(folder, "flush-probe"), "w");
  const bytes = Buffer.alloc(FLUSH_BYTES, 1);
  const times = Array.from({ length: FLUSHES }, () => {
    const startedAt = performance.now();
    writeSync(file, bytes);
    fdatasyncSync(file);
    return (performance.now() - startedAt) * 1000;
  });
  closeSync(file);
  return Math.round(medianOf(times));
}
