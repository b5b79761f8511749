/**
 * Emails as effects: the row is written in the turn that causes the email (M2). After the flush the outbox relay
 * (src/outbound/mail) finds the row and sends the email. actors/mail/machine.ts handles the outcome.
 */

import type { View } from "../../domain/view.ts";
import type { MailBase, MailData, MailTemplate } from "../../schemas/mails.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Effect, effects } from "../protocol/decision.ts";

/** An account, or an email address without an account (`fullName` is ""). */
export type Recipient = Pick<UserRecord, "email" | "fullName">;

export type NewMail = {
  readonly [T in MailTemplate]: { readonly template: T; readonly to: Recipient; readonly data: MailData<T> };
}[MailTemplate];

/** Queues all emails of a command. Call it once per command, because it allocates their ids. */
export function mailEffects(view: View, ...mails: readonly NewMail[]): Effect[] {
  if (mails.length === 0) return [];
  const last = view.counter("mail");
  const rows = mails.map(({ template, to, data }, index) => {
    const base: MailBase = { realmName: view.realm.name, fullName: to.fullName };
    const id = last + index + 1;
    const row = { id, template, to: to.email, data: { ...data, ...base }, createdAt: view.now };
    return effects.put("mails", id, { ...row, attempts: 0, dueAt: view.now });
  });
  return [effects.setCounter("mail", last + mails.length), ...rows];
}

/** DELETE /users/{user_id} with a comment that is not null (spec 4.20); "" sends only the standard text. */
export function deactivationMail(view: View, user: Recipient, comment: string): Effect[] {
  return mailEffects(view, { template: "account-deactivated", to: user, data: { comment } });
}
