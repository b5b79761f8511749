/** The common interface of the two ways of reading a queue. A source ends with its generator's return value. */
import type { NextStep } from "./close-codes.ts";

/** The last event that a client has received from a queue. */
export interface Position {
  readonly queueId: string;
  readonly lastEventId: number;
}

export interface RawEvent {
  readonly id: number;
  readonly type: string;
}

export interface Ended {
  readonly next: NextStep;
  readonly error: Error;
  /** The server asked for at least this pause. */
  readonly leastMs: number;
  /** The server accepted this source: the next pause is short. */
  readonly wasLive: boolean;
}

export type EventSource = AsyncGenerator<readonly RawEvent[], Ended>;
