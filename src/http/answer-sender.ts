/**
 * Sends the rest of an answer as the client takes it. The bytes stay here and not in uWebSockets.js, which would buffer any number of
 * answers of a connection: while one is unsent, the next request on the connection ends it (pitfalls 2.2).
 */
import type { HttpResponse } from "uWebSockets.js";
import { limits } from "../../schemas/limits.ts";
import type { Clock } from "../runtime/clock.ts";
import { StallWatch } from "./stall-watch.ts";

export class AnswerSender {
  readonly #watch: StallWatch;
  readonly #onEnd: () => void;
  #isOver = false;

  /** @param onEnd called once: all was taken, or the connection is gone */
  constructor(response: HttpResponse, bytes: Buffer, clock: Clock, onEnd: () => void) {
    this.#onEnd = onEnd;
    this.#watch = new StallWatch(clock, limits.unsent_stall_ms_max, () => {
      if (!this.#isOver) response.close();
    });
    let mark = 0;
    response.onWritable((offset) => {
      if (offset - mark >= limits.unsent_progress_bytes_min) {
        mark = offset;
        this.#watch.restart();
      }
      const [isTaken, isDone] = response.tryEnd(bytes.subarray(offset), bytes.length);
      if (isDone) this.end();
      return isTaken || isDone;
    });
  }

  /** The client hung up, or has it all: nothing may be sent any more. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#watch.stop();
    this.#onEnd();
  }
}
