/**
 * Sends the rest of an answer as the client takes it. The bytes stay here and not in uWebSockets.js, which would buffer any number of
 * answers of a connection: while one is unsent, the next request on the connection ends it (pitfalls 2.2).
 */
import type { HttpResponse } from "uWebSockets.js";
import { limits } from "../../schemas/limits.ts";
import type { Clock } from "../runtime/clock.ts";
import type { AnswerBytes } from "./answer-bytes.ts";
import { StallWatch } from "./stall-watch.ts";

export interface SendingOptions {
  readonly response: HttpResponse;
  readonly bytes: AnswerBytes;
  /** Whether the client has taken all that it was given so far. */
  readonly isTaken: boolean;
  readonly clock: Clock;
  /** Called once: all was taken, or the connection is gone. */
  readonly onEnd: () => void;
}

export class AnswerSender {
  readonly #watch: StallWatch;
  readonly #onEnd: () => void;
  #isOver = false;

  constructor({ response, bytes, isTaken, clock, onEnd }: SendingOptions) {
    this.#onEnd = onEnd;
    this.#watch = new StallWatch(clock, limits.unsent_stall_ms_max, () => {
      if (!this.#isOver) response.close();
    });
    let mark = 0;
    const goOn = (offset: number): boolean => {
      if (offset - mark >= limits.unsent_progress_bytes_min) {
        mark = offset;
        this.#watch.restart();
      }
      const { isTaken, isDone } = offer(response, bytes, offset);
      if (isDone) this.end();
      else if (isTaken) soon();
      return isTaken || isDone;
    };
    // A client that takes everything at once is given more in a later pass of the loop.
    const soon = () =>
      clock.soon(() => {
        if (!this.#isOver) response.cork(() => void goOn(response.getWriteOffset()));
      });
    response.onWritable(goOn);
    if (isTaken) soon();
  }

  /** The client hung up, or has it all: nothing may be sent any more. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#watch.stop();
    this.#onEnd();
  }
}

/** Gives what the client takes of the bytes from `offset` on, as far as one pass of the loop may. */
export function offer(response: HttpResponse, bytes: AnswerBytes, offset: number) {
  let at = offset;
  const end = offset + limits.answer_bytes_per_pass_max;
  let isTaken = true;
  let isDone = false;
  while (isTaken && !isDone && at < end) {
    const piece = bytes.from(at);
    if (piece === null) break;
    [isTaken, isDone] = response.tryEnd(piece, bytes.size);
    at += piece.length;
  }
  return { isTaken, isDone };
}
