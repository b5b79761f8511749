/**
 * Sends the rest of an answer as fast as the client reads. The bytes stay here, because uWebSockets.js would buffer any
 * number of answers of a connection: while one is unsent, the next request on the connection closes it (pitfalls 2.2).
 */
import { limits } from "../../../schemas/limits.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { TransportResponse } from "../transport/transport.ts";
import type { AnswerBytes } from "./answer-bytes.ts";
import { StallWatch } from "./stall-watch.ts";

export interface SendingOptions {
  readonly response: TransportResponse;
  readonly bytes: AnswerBytes;
  /** Whether the client has read everything it was given so far. */
  readonly isTaken: boolean;
  readonly clock: Clock;
  /** Called once: when everything was read, or the connection is closed. */
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
    // A client that reads everything at once gets more in a later iteration of the event loop.
    const soon = () =>
      clock.soon(() => {
        if (!this.#isOver) response.cork(() => void goOn(response.getWriteOffset()));
      });
    response.onWritable(goOn);
    if (isTaken) soon();
  }

  /** The client disconnected or has everything: nothing may be sent any more. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#watch.stop();
    this.#onEnd();
  }
}

/** Offered when everything was offered before and the client has read it since. */
const nothing = Buffer.alloc(0);

/** Sends bytes from `offset` on, as many as the client takes and one iteration of the event loop may send. */
export function offer(response: TransportResponse, bytes: AnswerBytes, offset: number) {
  let at = offset;
  const end = offset + limits.answer_bytes_per_pass_max;
  let isTaken = true;
  let isDone = false;
  while (isTaken && !isDone && at < end) {
    const piece = bytes.from(at) ?? nothing;
    [isTaken, isDone] = response.tryEnd(piece, bytes.size);
    at += piece.length;
  }
  return { isTaken, isDone };
}
