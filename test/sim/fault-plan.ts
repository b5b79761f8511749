/** Which transaction meets which fault, drawn from the seed. */
import type { FaultPlan, StoreFault } from "./faulty-store.ts";
import type { Random } from "./random.ts";

const hourMs = 60 * 60 * 1000;

/** Per thousand transactions. */
const rates: readonly (readonly [number, (random: Random) => StoreFault])[] = [
  [5, () => ({ kind: "crash before commit" })],
  [5, () => ({ kind: "crash after commit" })],
  [6, (random) => ({ kind: "crash between rows", rows: random.below(random.pick([4, 12, 100])) })],
  [3, () => ({ kind: "failed commit" })],
  [8, (random) => ({ kind: "slow flush", ms: random.pick([50, 2000, 70_000]) })],
  [2, () => ({ kind: "clock set back", ms: hourMs })],
  [
    2,
    (random) => ({
      kind: "clock jumps ahead",
      ms: random.pick([hourMs, 400 * 24 * hourMs]),
      lastingMs: random.pick([1, 1000, 20_000]),
    }),
  ],
];

/** Per frame or response. */
const perThing = 1 / 800;

export class DrawnFaults implements FaultPlan {
  readonly #random: Random;
  readonly #onSlow: (fault: StoreFault) => void;
  readonly #onMet: (fault: StoreFault) => void;
  isOver = false;

  constructor(random: Random, tools: { slowed(fault: StoreFault): void; met(fault: StoreFault): void }) {
    this.#random = random;
    this.#onSlow = tools.slowed;
    this.#onMet = tools.met;
  }

  draw(): StoreFault | null {
    if (this.isOver) return null;
    let left = this.#random.next() * 1000;
    for (const [rate, make] of rates) {
      left -= rate;
      if (left < 0) return make(this.#random);
    }
    return null;
  }

  /** Whether the machine goes down before the next frame or response is sent; the earlier ones were sent. */
  crashesBetween(): boolean {
    return !this.isOver && this.#random.chance(perThing);
  }

  slowed(fault: StoreFault): void {
    this.#onSlow(fault);
  }

  met(fault: StoreFault): void {
    this.#onMet(fault);
  }
}
