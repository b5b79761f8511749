// How busy the busiest thread of a process and its children was. A load generator on a busy machine may be the
// bottleneck with half a core, so the time for which a thread waited for a core counts as well as the time it ran. A
// child may end before the window does: threads are read several times, and each counts up to its last reading.

import { THREADS_READ_MS } from "./limits.ts";
import { readThreadSeconds } from "./process-usage.ts";

interface Reading {
  readonly atMs: number;
  readonly seconds: number;
}

export class BusiestThread {
  readonly #pid: number;
  #first = new Map<string, number>();
  readonly #last = new Map<string, Reading>();
  #openedAtMs = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(pid: number) {
    this.#pid = pid;
  }

  open(): void {
    this.#openedAtMs = performance.now();
    this.#first = readThreadSeconds(this.#pid);
    this.#timer = setInterval(() => this.#read(), THREADS_READ_MS);
  }

  /** @returns its share of the time since `open`; 1 is a whole core. 0 if the kernel does not tell */
  close(): number {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#read();
    const shares = [...this.#last].map(
      ([thread, { seconds, atMs }]) => ((seconds - (this.#first.get(thread) ?? 0)) * 1000) / (atMs - this.#openedAtMs),
    );
    return Math.max(0, ...shares);
  }

  #read(): void {
    const atMs = performance.now();
    for (const [thread, seconds] of readThreadSeconds(this.#pid)) this.#last.set(thread, { atMs, seconds });
  }
}
