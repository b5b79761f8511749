// Observes the server process from outside during a measured window: CPU seconds from /proc, event-loop delay from the
// metrics file (on SIGUSR2 the server writes it and starts a new histogram), and how busy the generator itself was. If
// the generator was saturated, a throughput says nothing about the server.

import { readFileSync, rmSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { BusiestThread } from "./busiest-thread.ts";
import { METRICS_WAIT_MS } from "./limits.ts";
import {
  type MemoryUse,
  readCpuSeconds,
  readMachineCpuSeconds,
  readMainThreadSeconds,
  readMemory,
  readTreeCpuSeconds,
} from "./process-usage.ts";

/** What is observed: a process of this machine; the metrics file is null if the server writes none. */
export interface Watch {
  readonly pid: number;
  readonly metricsFile: string | null;
  /** Further processes whose CPU belongs to the server, each with its descendants (the database of a peer). */
  readonly trees?: readonly number[];
}

export interface LoopDelay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface Usage {
  /**
   * CPU seconds inside the window of the server process and of the further processes; null if they cannot be read (a
   * remote server).
   */
  readonly serverCpuSeconds: number | null;
  /** Those of the server process alone. */
  readonly ownCpuSeconds?: number | null;
  /** Those of its first thread. */
  readonly mainCpuSeconds?: number | null;
  readonly serverMemory: MemoryUse | null;
  readonly loopDelayMs: LoopDelay | null;
  /**
   * Share of the window in which the busiest thread of the generator's processes ran or waited for a core. Near 1, the
   * generator was saturated.
   */
  readonly generatorShare: number;
  /** Cores used by programs other than server and generator; null if unknown. */
  readonly othersShare: number | null;
  readonly wallSeconds: number;
}

export class Probe {
  readonly #watch: Watch | null;
  #startedAt = 0;
  #generatorCpuSeconds = 0;
  readonly #busiestThread = new BusiestThread(process.pid);
  #serverCpuSeconds: number | null = null;
  #ownCpuSeconds: number | null = null;
  #mainCpuSeconds: number | null = null;
  #machineCpuSeconds: number | null = null;
  #window: Omit<Usage, "loopDelayMs" | "serverMemory"> | null = null;

  constructor(watch: Watch | null) {
    this.#watch = watch;
  }

  /** Opens the window: synchronous and cheap. The metrics written on this signal belong to the warm-up. */
  open(): void {
    this.#signal();
    this.#serverCpuSeconds = readWatched(this.#watch);
    this.#ownCpuSeconds = readOwn(this.#watch);
    this.#mainCpuSeconds = readMain(this.#watch);
    this.#machineCpuSeconds = readMachineCpuSeconds();
    this.#generatorCpuSeconds = readGenerator();
    this.#busiestThread.open();
    this.#startedAt = performance.now();
  }

  /**
   * Closes the window: synchronous and cheap; `report` may follow later. `wallSeconds` is given if the load knows better
   * how long it lasted: the start and the end of a program are no part of it.
   */
  close(wallSeconds = (performance.now() - this.#startedAt) / 1000): void {
    const generatorShare = this.#busiestThread.close();
    const now = readWatched(this.#watch);
    const serverCpuSeconds = differenceOf(now, this.#serverCpuSeconds);
    const ownCpuSeconds = differenceOf(readOwn(this.#watch), this.#ownCpuSeconds);
    const mainCpuSeconds = differenceOf(readMain(this.#watch), this.#mainCpuSeconds);
    const generatorCpuSeconds = readGenerator() - this.#generatorCpuSeconds;
    const othersShare = this.#othersShare({ serverCpuSeconds, generatorCpuSeconds, wallSeconds });
    this.#window = { serverCpuSeconds, ownCpuSeconds, mainCpuSeconds, generatorShare, othersShare, wallSeconds };
    if (this.#watch?.metricsFile != null) rmSync(this.#watch.metricsFile, { force: true });
    this.#signal();
  }

  /** The resources used in the window. Reads memory, so call it after `close`, when nothing is being measured. */
  async report(): Promise<Usage> {
    if (this.#window === null) throw new Error("the probe's window was never closed");
    return {
      ...this.#window,
      loopDelayMs: await this.#readLoopDelay(),
      serverMemory: this.#watch === null ? null : readMemory(this.#watch.pid),
    };
  }

  #othersShare(used: {
    readonly serverCpuSeconds: number | null;
    readonly generatorCpuSeconds: number;
    readonly wallSeconds: number;
  }): number | null {
    const now = readMachineCpuSeconds();
    if (now === null || this.#machineCpuSeconds === null || used.serverCpuSeconds === null) return null;
    const others = now - this.#machineCpuSeconds - used.serverCpuSeconds - used.generatorCpuSeconds;
    return Math.max(0, others / used.wallSeconds);
  }

  #signal(): void {
    if (this.#watch?.metricsFile == null) return;
    try {
      process.kill(this.#watch.pid, "SIGUSR2");
    } catch {
      // The process has exited. The run fails on its connections with a better error message.
    }
  }

  async #readLoopDelay(): Promise<LoopDelay | null> {
    const file = this.#watch?.metricsFile ?? null;
    if (file === null) return null;
    for (const until = performance.now() + METRICS_WAIT_MS; performance.now() < until; await wait(5)) {
      const delay = parseLoopDelay(file);
      if (delay !== null) return delay;
    }
    return null;
  }
}

/** Total CPU seconds of all observed processes; null if they cannot be read. */
function readWatched(watch: Watch | null): number | null {
  if (watch === null) return null;
  const parts = [readCpuSeconds(watch.pid), ...(watch.trees ?? []).map(readTreeCpuSeconds)];
  return parts.reduce((sum, part) => (sum === null || part === null ? null : sum + part), 0);
}

function readOwn(watch: Watch | null): number | null {
  return watch === null ? null : readCpuSeconds(watch.pid);
}

function readMain(watch: Watch | null): number | null {
  return watch === null ? null : readMainThreadSeconds(watch.pid);
}

function differenceOf(now: number | null, before: number | null): number | null {
  return now === null || before === null ? null : now - before;
}

/** CPU seconds of this process and of the programs that it has started. */
function readGenerator(): number {
  const { user, system } = process.cpuUsage();
  return readTreeCpuSeconds(process.pid) ?? (user + system) / 1_000_000;
}

/** Null while the file is missing or incomplete. */
function parseLoopDelay(file: string): LoopDelay | null {
  try {
    const metrics = JSON.parse(readFileSync(file, "utf8")) as { event_loop_delay_ms?: Partial<LoopDelay> };
    const { p50, p99, max } = metrics.event_loop_delay_ms ?? {};
    return p50 === undefined || p99 === undefined || max === undefined ? null : { p50, p99, max };
  } catch {
    return null;
  }
}
