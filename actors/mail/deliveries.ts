/** How a delivery went (D31): taken, to be tried again later, or given up. */
import { limits } from "../../schemas/limits.ts";
import type { MailRecord } from "../../schemas/records.ts";
import type { View } from "../../src/domain/view.ts";
import { type Address, type Command, command } from "../commands.ts";
import { done, type Outcome } from "../decide.ts";
import { type DeliveryContext, type Patience, postponed } from "../delivery.ts";
import { type Effect, effects } from "../effects.ts";
import { isWithdrawn } from "./withdrawn.ts";

type MailAddress = Extract<Address, { actor: "mail" }>;

const patience: Patience = {
  attemptsMax: limits.mail_attempts_max,
  backOffMin: limits.mail_back_off_ms_min,
  backOffMax: limits.mail_back_off_ms_max,
};

/** A mail server, or the outbox, has it. */
export function mailSent(_context: DeliveryContext, asked: Command<"mail.sent">): Outcome<DeliveryContext> {
  return done({}, [effects.remove("mails", (asked.to as MailAddress).id)], { fate: "sent" });
}

/**
 * Tried again with exponential back-off; refused for good or too often, it becomes a dead letter that says to whom and why. What it
 * says is kept apart for another attempt, unless it holds a link that is a key (S2).
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
  const later = isPermanent ? null : postponed(mail, view.now, patience);
  if (later !== null) return done({}, waitFor(later));
  const attempts = mail.attempts + 1;
  const error = `mail ${mail.id} (${mail.template}) to ${mail.to}, attempt ${attempts}: ${reason}`;
  const { id, template, to: recipient } = mail;
  const letter = effects.bury(asked, error, { attempts, delivery: { kind: "mail", id, template, to: recipient } });
  const kept = Object.hasOwn(mail.data, "link") ? [] : [effects.put("deadMails", id, mail)];
  return done({}, [effects.remove("mails", id), letter, ...kept], { fate: "dead" });
}

function waitFor(later: MailRecord): Effect[] {
  return [
    effects.put("mails", later.id, later),
    effects.schedule(later.dueAt, command({ actor: "mail", id: later.id }, "mail.due", {}, null)),
  ];
}

/**
 * A word about it died (M6) and is a dead letter itself. A mail that somebody has is done with; any other is not lost for that: it
 * is tried again as after a failure.
 */
export function abandonMail(
  _context: DeliveryContext,
  asked: Command<"mail.abandon">,
  view: View,
): Outcome<DeliveryContext> {
  const mail = view.row("mails", (asked.to as MailAddress).id);
  if (mail === undefined) return done({}, []);
  const later = asked.params.isTaken ? null : postponed(mail, view.now, patience);
  if (later !== null) return done({}, waitFor(later));
  return done({}, [effects.remove("mails", mail.id)], { fate: asked.params.isTaken ? "sent" : "dead" });
}

/** Time to try again: the courier sees rows that are written. */
export function mailDue(_context: DeliveryContext, asked: Command<"mail.due">, view: View): Outcome<DeliveryContext> {
  const mail = view.row("mails", (asked.to as MailAddress).id);
  if (mail === undefined || mail.dueAt > view.now) return done({}, []);
  if (isWithdrawn(view, mail)) return done({}, [effects.remove("mails", mail.id)], { fate: "sent" });
  return done({}, [effects.put("mails", mail.id, mail)]);
}
