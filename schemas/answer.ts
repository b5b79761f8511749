/** The answer to a request, and how a command names a request that a later turn answers. */

/**
 * Identifies a request that waits for an answer in this process. Invalid after a restart (see `View.counter("boot")`).
 */
export type Ticket = number;

/** A waiting request as stored in commands; valid only during this `boot` of the realm. */
export interface WaitingRequest {
  readonly ticket: Ticket;
  readonly boot: number;
}

export type Answer = Readonly<Record<string, unknown>>;
