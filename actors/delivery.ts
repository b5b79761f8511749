/**
 * Something on its way out of the server: a mail, a message for an outgoing webhook. Its row is there as long as it is pending;
 * a courier (src/outbound) carries out what is due and says how it went.
 *
 *   (row written by its cause) --> pending --taken--> sent                          the row goes
 *                                  pending --failed--> pending                      due again later, by a durable timer (M8)
 *                                  pending --failed for good, or too often--> dead  the row goes, somebody is told
 *                                  pending --abandon--> sent                        the word of being taken died (M6): the row goes
 *                                  pending --abandon--> pending or dead             another word about it died: as if it had failed
 *                                  pending --due--> pending                         the row is shown to the courier again
 *
 * At least once: a crash between the delivery and the word of it repeats it.
 */
import { setup } from "xstate";
import type { CommandType } from "./commands.ts";
import { type CommandEvent, type Decision, done, type Emitted, hosting, type Outcome } from "./decide.ts";

export interface DeliveryContext {
  readonly fate: "pending" | "sent" | "dead";
}

/** What is decided while it is pending, by type of command. */
type Decisions = { readonly [T in CommandType]?: Decision<DeliveryContext, T> };

const { decide, notUnderstood } = hosting<DeliveryContext>();

/** It is over already. */
function tooLate(): Outcome<DeliveryContext> {
  return done({}, []);
}

export function deliveryMachine(id: string, decisions: Decisions) {
  const all = Object.entries(decisions) as readonly [CommandType, Decision<DeliveryContext, CommandType>][];
  const pending = Object.fromEntries(all.map(([type, decision]) => [type, { actions: decide(decision) }]));
  const over = { on: Object.fromEntries(all.map(([type]) => [type, { actions: decide(tooLate) }])) };
  return setup({
    types: { context: {} as DeliveryContext, events: {} as CommandEvent, emitted: {} as Emitted },
  }).createMachine({
    id,
    context: { fate: "pending" },
    initial: "pending",
    states: {
      pending: {
        on: pending,
        always: [
          { guard: ({ context }) => context.fate === "sent", target: "sent" },
          { guard: ({ context }) => context.fate === "dead", target: "dead" },
        ],
      },
      sent: over,
      dead: over,
    },
    on: { "*": { actions: notUnderstood } },
  });
}

export interface Patience {
  readonly attemptsMax: number;
  /** Milliseconds before the second attempt; twice as long each time, up to a bound. */
  readonly backOffMin: number;
  readonly backOffMax: number;
}

/** The row after one more failure, due again later; null after the last attempt. */
export function postponed<R extends { readonly attempts: number; readonly dueAt: number }>(
  row: R,
  now: number,
  { attemptsMax, backOffMin, backOffMax }: Patience,
): R | null {
  const attempts = row.attempts + 1;
  if (attempts >= attemptsMax) return null;
  return { ...row, attempts, dueAt: now + Math.min(backOffMin * 2 ** (attempts - 1), backOffMax) };
}
