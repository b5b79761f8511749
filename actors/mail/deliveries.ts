/** How a delivery went (D31): taken, to be tried again later, or given up. */
import { limits } from "../../schemas/limits.ts";
import type { View } from "../../src/domain/view.ts";
import { type Address, type Command, command } from "../commands.ts";
import { done, type Outcome } from "../decide.ts";
import { backOffMs, type DeliveryContext } from "../delivery.ts";
import { effects } from "../effects.ts";
import { isWithdrawn } from "./withdrawn.ts";

type MailAddress = Extract<Address, { actor: "mail" }>;

/** A mail server, or the outbox, has it. */
export function mailSent(_context: DeliveryContext, asked: Command<"mail.sent">): Outcome<DeliveryContext> {
  return done({}, [effects.remove("mails", (asked.to as MailAddress).id)], { fate: "sent" });
}

/**
 * Tried again with exponential back-off; refused for good or too often, it becomes a dead letter that says to whom and why, and
 * no longer what: its text may hold a link that is a key (S2).
 */
export function mailFailed(
  _context: DeliveryContext,
  asked: Command<"mail.failed">,
  view: View,
): Outcome<DeliveryContext> {
  const to = asked.to as MailAddress;
  const { isPermanent, reason } = asked.params;
  const mail = view.row("mails", to.id);
  if (mail === undefined) return done({}, []);
  const attempts = mail.attempts + 1;
  if (isPermanent || attempts >= limits.mail_attempts_max) {
    const error = `mail ${mail.id} (${mail.template}) to ${mail.to}, attempt ${attempts}: ${reason}`;
    return done({}, [effects.remove("mails", mail.id), effects.bury(asked, error)], { fate: "dead" });
  }
  const dueAt = view.now + backOffMs(attempts, limits.mail_back_off_ms_min, limits.mail_back_off_ms_max);
  return done({}, [
    effects.put("mails", mail.id, { ...mail, attempts, dueAt }),
    effects.schedule(dueAt, command(to, "mail.due", {}, null)),
  ]);
}

/** The word of how it went died (M6): the command is the dead letter, and nothing of the mail waits any more. */
export function abandonMail(_context: DeliveryContext, asked: Command<"mail.abandon">): Outcome<DeliveryContext> {
  return done({}, [effects.remove("mails", (asked.to as MailAddress).id)], { fate: "dead" });
}

/** Time to try again: the courier sees rows that are written. */
export function mailDue(_context: DeliveryContext, asked: Command<"mail.due">, view: View): Outcome<DeliveryContext> {
  const mail = view.row("mails", (asked.to as MailAddress).id);
  if (mail === undefined || mail.dueAt > view.now) return done({}, []);
  if (isWithdrawn(view, mail)) return done({}, [effects.remove("mails", mail.id)], { fate: "sent" });
  return done({}, [effects.put("mails", mail.id, mail)]);
}
