/**
 * Delivery of one email (D31; actors/protocol/delivery.ts). Retries use the same Message-ID. An email that is rejected
 * permanently or too often becomes a dead letter.
 */

import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import type { MailRecord } from "../../schemas/mails.ts";
import { type Command, command, done, type Effect, effects, type Outcome } from "../protocol/decision.ts";
import { deliveryMachine, type PendingDelivery, type RetryPolicy, withNextAttempt } from "../protocol/delivery.ts";
import { isWithdrawn } from "./withdrawn.ts";

const retryPolicy: RetryPolicy = {
  attemptsMax: limits.mail_attempts_max,
  backOffMin: limits.mail_back_off_ms_min,
  backOffMax: limits.mail_back_off_ms_max,
};

type Pending = PendingDelivery<MailRecord>;

/** A mail server, or the file outbox, has accepted the email. */
function mailSent({ row }: Pending): Outcome<Pending> {
  return done({}, [effects.remove("mails", row.id)], undefined, "sent");
}

/**
 * Failed deliveries are retried with exponential back-off. A permanent rejection or too many failures makes the email a
 * dead letter that names the recipient and the reason. Its content is kept separately for a later attempt, unless it
 * contains a link with a key (S2).
 */
function mailFailed({ row: mail }: Pending, request: Command<"mail.failed">, view: View): Outcome<Pending> {
  const { isPermanent, reason } = request.params;
  const later = isPermanent ? null : withNextAttempt(mail, view.now, retryPolicy);
  if (later !== null) return done({}, waitFor(later), { row: later });
  const attempts = mail.attempts + 1;
  const error = `mail ${mail.id} (${mail.template}) to ${mail.to}, attempt ${attempts}: ${reason}`;
  const { id, template, to: recipient } = mail;
  const deadLetter = effects.deadLetter(request, error, {
    attempts,
    delivery: { kind: "mail", id, template, to: recipient },
  });
  const kept = Object.hasOwn(mail.data, "link") ? [] : [effects.put("deadMails", id, mail)];
  return done({}, [effects.remove("mails", id), deadLetter, ...kept], undefined, "dead");
}

function waitFor(later: MailRecord): Effect[] {
  return [
    effects.put("mails", later.id, later),
    effects.schedule(later.dueAt, command({ actor: "mail", id: later.id }, "mail.due", {}, null)),
  ];
}

/**
 * A report about this email is itself a dead letter (M6). An email that was accepted is done; any other is retried as
 * after a failure.
 */
function abandonMail({ row: mail }: Pending, request: Command<"mail.abandon">, view: View): Outcome<Pending> {
  const later = request.params.wasAccepted ? null : withNextAttempt(mail, view.now, retryPolicy);
  if (later !== null) return done({}, waitFor(later), { row: later });
  return done({}, [effects.remove("mails", mail.id)], undefined, request.params.wasAccepted ? "sent" : "dead");
}

/** Time for another attempt: rewriting the row offers it to the outbox relay. */
function mailDue({ row: mail }: Pending, _asked: Command<"mail.due">, view: View): Outcome<Pending> {
  if (mail.dueAt > view.now) return done({}, []);
  if (isWithdrawn(view, mail)) return done({}, [effects.remove("mails", mail.id)], undefined, "sent");
  return done({}, [effects.put("mails", mail.id, mail)]);
}

export const mailMachine = deliveryMachine<MailRecord>(
  "mail",
  { "mail.sent": mailSent, "mail.failed": mailFailed, "mail.due": mailDue, "mail.abandon": abandonMail },
  {
    "mail.sent": { sent: "always" },
    "mail.failed": { dead: "permanently, or too often" },
    "mail.due": { sent: "nobody wants it any more" },
    "mail.abandon": { sent: "it was accepted", dead: "too often" },
  },
);
