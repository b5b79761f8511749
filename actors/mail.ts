/**
 * Mails as effects: a row in the turn of its cause (M2), which the courier finds after the flush and sends (src/outbound/mail).
 * How a mail ends is in actors/mail/machine.ts.
 */
import type { MailBase, MailData, MailTemplate } from "../schemas/mails.ts";
import type { UserRecord } from "../schemas/records.ts";
import type { View } from "../src/domain/view.ts";
import { type Effect, effects } from "./effects.ts";

/** An account, or an address that has none yet (`fullName` ""). */
export type Recipient = Pick<UserRecord, "email" | "fullName">;

export type NewMail = {
  readonly [T in MailTemplate]: { readonly template: T; readonly to: Recipient; readonly data: MailData<T> };
}[MailTemplate];

/** All mails of one command: called once per command, since it takes their ids. */
export function mailEffects(view: View, ...mails: readonly NewMail[]): Effect[] {
  if (mails.length === 0) return [];
  const last = view.counter("mail");
  const rows = mails.map(({ template, to, data }, index) => {
    const base: MailBase = { realmName: view.realm.name, fullName: to.fullName };
    const id = last + index + 1;
    const row = { id, template, to: to.email, data: { ...data, ...base }, createdAt: view.now };
    return effects.put("mails", id, { ...row, attempts: 0, dueAt: view.now });
  });
  return [effects.count("mail", last + mails.length), ...rows];
}

/** DELETE /users/{user_id} with a comment that is not null (spec 4.20): "" sends the standard text alone. */
export function deactivationMail(view: View, user: Recipient, comment: string): Effect[] {
  return mailEffects(view, { template: "account-deactivated", to: user, data: { comment } });
}
