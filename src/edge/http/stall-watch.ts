/** Closes the connection of a client that reads too little of its answer in a given time (S3, E3). */
import type { Clock } from "../../runtime/clock.ts";

export class StallWatch {
  readonly #clock: Clock;
  readonly #milliseconds: number;
  readonly #onStall: () => void;
  #cancel: () => void;

  constructor(clock: Clock, milliseconds: number, onStall: () => void) {
    this.#clock = clock;
    this.#milliseconds = milliseconds;
    this.#onStall = onStall;
    this.#cancel = clock.after(milliseconds, onStall);
  }

  /** The client has read something: restart the time-out. */
  restart(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(this.#milliseconds, this.#onStall);
  }

  stop(): void {
    this.#cancel();
  }
}
