/**
 * One mail on its way (D31). Its row is there as long as it is pending; the courier (src/outbound/mail) sends what is due and
 * says how it went.
 *
 *   (row written by its cause) --> pending --sent--> sent                          the row goes
 *                                  pending --failed--> pending                     due again later, by a durable timer (M8)
 *                                  pending --failed for good, or too often--> dead the row goes, a dead letter stays
 *                                  pending --due--> pending                        the row is shown to the courier again
 *
 * At least once: a crash between sending and `sent` repeats it, under the same Message-ID.
 */
import { setup } from "xstate";
import { type CommandEvent, type Emitted, hosting } from "../decide.ts";
import { mailDue, mailFailed, mailSent, tooLate } from "./deliveries.ts";

export interface MailContext {
  readonly fate: "pending" | "sent" | "dead";
}

const { decide, notUnderstood } = hosting<MailContext>();

const over = {
  on: {
    "mail.sent": { actions: decide(tooLate) },
    "mail.failed": { actions: decide(tooLate) },
    "mail.due": { actions: decide(tooLate) },
  },
};

export const mailMachine = setup({
  types: { context: {} as MailContext, events: {} as CommandEvent, emitted: {} as Emitted },
}).createMachine({
  id: "mail",
  context: { fate: "pending" },
  initial: "pending",
  states: {
    pending: {
      on: {
        "mail.sent": { actions: decide(mailSent) },
        "mail.failed": { actions: decide(mailFailed) },
        "mail.due": { actions: decide(mailDue) },
      },
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
