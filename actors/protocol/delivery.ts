/**
 * State machine for deliveries out of the server: emails and messages to outgoing webhooks. The command that causes a
 * delivery writes its row, which exists while the delivery is pending. The outbox relay (src/outbound) attempts due
 * deliveries and reports the outcome.
 *
 *    pending --sent--> sent               the row is deleted
 *    pending --failed--> pending          retried later, by a durable timer (M8)
 *    pending --failed--> dead             permanently or too often: the row is deleted, the failure is reported
 *    pending --abandon--> sent            the `sent` acknowledgement became a dead letter (M6): the row is deleted
 *    pending --abandon--> pending, dead   another report became a dead letter: handled like a failure
 *    pending --due--> pending             the row is offered to the relay again
 *    sent, dead                           ignore everything: a report or a timer may arrive late
 *
 * Delivery is at least once: a crash between the delivery and its acknowledgement repeats it.
 */
import type { CommandType, Decisions } from "./decision.ts";
import { decide, ignore, lead, rejectUnhandled, setupMachine } from "./machine-setup.ts";

/** A delivery is pending as long as it has a row. */
export interface PendingDelivery<R> {
  readonly row: R;
}

/** @param ends the commands that may end a delivery, and when */
export function deliveryMachine<R>(
  id: string,
  pending: Decisions<PendingDelivery<R>>,
  ends: Parameters<typeof lead>[1],
) {
  const ended = { on: ignore(Object.keys(pending) as CommandType[]) };
  return setupMachine<Partial<PendingDelivery<R>>>().createMachine({
    id,
    context: {},
    initial: "pending",
    states: { pending: { on: lead(decide(pending), ends) }, sent: ended, dead: ended },
    on: rejectUnhandled,
  });
}

export interface RetryPolicy {
  readonly attemptsMax: number;
  /** Delay before the second attempt, in milliseconds. It doubles with each attempt, up to `backOffMax`. */
  readonly backOffMin: number;
  readonly backOffMax: number;
}

/** Returns the row with one more failed attempt, due again later; null after the last attempt. */
export function withNextAttempt<R extends { readonly attempts: number; readonly dueAt: number }>(
  row: R,
  now: number,
  { attemptsMax, backOffMin, backOffMax }: RetryPolicy,
): R | null {
  const attempts = row.attempts + 1;
  if (attempts >= attemptsMax) return null;
  return { ...row, attempts, dueAt: now + Math.min(backOffMin * 2 ** (attempts - 1), backOffMax) };
}
