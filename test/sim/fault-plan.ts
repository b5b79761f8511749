/** What a simulated disk meets, and when, drawn from the seed. */
import type { Fault, FaultPlan, Faults } from "./faults.ts";
import type { Random } from "./random.ts";

const hourMs = 60 * 60 * 1000;

type Rates<F> = readonly (readonly [perThousand: number, make: (random: Random) => F])[];

const rates: { readonly [M in keyof Faults]: Rates<Faults[M]> } = {
  flush: [
    [6, () => ({ kind: "crash before flush" })],
    [9, () => ({ kind: "torn flush" })],
    [9, () => ({ kind: "crash after flush" })],
    [4, () => ({ kind: "failed flush" })],
    [25, (random) => ({ kind: "slow flush", ms: random.pick([50, 2000, 70_000]) })],
    [8, (random) => ({ kind: "full journal", ms: random.pick([50, 2000, 70_000]) })],
  ],
  checkpoint: [
    [20, () => ({ kind: "crash before checkpoint" })],
    [30, (random) => ({ kind: "crash in checkpoint", rows: random.below(random.pick([4, 12, 100])) })],
    [30, () => ({ kind: "crash after checkpoint" })],
    [10, () => ({ kind: "failed checkpoint" })],
    [80, (random) => ({ kind: "slow checkpoint", ms: random.pick([1000, 30_000, 300_000]) })],
  ],
  start: [
    [30, () => ({ kind: "crash before recovery" })],
    [40, () => ({ kind: "crash after recovery" })],
  ],
  turn: [
    [3, () => ({ kind: "crash in turn" })],
    [2, () => ({ kind: "clock set back", ms: hourMs })],
    [
      2,
      (random) => ({
        kind: "clock jumps ahead",
        ms: random.pick([hourMs, 400 * 24 * hourMs]),
        lastingMs: random.pick([1, 1000, 20_000]),
      }),
    ],
  ],
};

/** Per frame or response. */
const perThing = 1 / 800;
/** Share of the times at which the simulation waits for the disk before it goes on. */
const patience = 0.75;

export class DrawnFaults implements FaultPlan {
  readonly #random: Random;
  readonly #onMet: (fault: Fault) => void;
  isOver = false;

  constructor(random: Random, onMet: (fault: Fault) => void) {
    this.#random = random;
    this.#onMet = onMet;
  }

  draw<M extends keyof Faults>(moment: M): Faults[M] | null {
    if (this.isOver) return null;
    let left = this.#random.next() * 1000;
    for (const [rate, make] of rates[moment]) {
      left -= rate;
      if (left < 0) return make(this.#random);
    }
    return null;
  }

  /** Whether the machine goes down before the next frame or response is sent; the earlier ones were sent. */
  crashesBetween(): boolean {
    return !this.isOver && this.#random.chance(perThing);
  }

  /** Whether the next requests arrive only when the disk has what was written before. */
  waitsForDisk(): boolean {
    return this.isOver || this.#random.chance(patience);
  }

  met(fault: Fault): void {
    this.#onMet(fault);
  }

  below(count: number): number {
    return this.#random.below(count);
  }
}
