/** What becomes of the durations of turns: they are counted, and a slow one is logged. */
import type { Command } from "../../actors/protocol/commands.ts";
import type { Histogram } from "../metrics/instruments.ts";

export class TurnWatch {
  readonly #times: Histogram;
  readonly #slowMs: number | null;

  /** @param slowMs from which duration on a turn is logged; null: never */
  constructor(times: Histogram, slowMs: number | null) {
    this.#times = times;
    this.#slowMs = slowMs;
  }

  /** @param last a turn ends with the command that exhausts its time, so that is the one which was slow */
  ended(ms: number, last: Command | null, warn: (line: string) => void): void {
    this.#times.observe(ms);
    if (this.#slowMs === null || ms < this.#slowMs) return;
    const command = last === null ? "" : `, and its last command was ${last.type}`;
    warn(`a turn took ${Math.round(ms)} ms${command} (SLOW_TURN_MS is ${this.#slowMs})`);
  }
}
