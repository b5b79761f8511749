/**
 * Known login origins of a user, and the email about a login from a new program or location (D31; behaviour 11). Only
 * hashes of program and coarse location are stored; the ones not seen for longest are evicted first.
 */

import type { View } from "../../domain/view.ts";
import type { Login } from "../../schemas/authentication.ts";
import { limits } from "../../schemas/limits.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Effect, effects } from "../protocol/effects.ts";
import { mailEffects } from "../rules/mail.ts";

/** The first login of an account sends no email. */
export function loginEffects(view: View, user: UserRecord, login: Login): Effect[] {
  const range = { start: [user.id], end: [user.id + 1], limit: limits.logins_per_user_max };
  const known = view.rows("logins", range);
  const isNew = !known.some(({ key }) => key[1] === login.fingerprint);
  const isFull = isNew && known.length >= limits.logins_per_user_max;
  const forgotten = isFull ? known.reduce((a, b) => (b.row.seenAt < a.row.seenAt ? b : a)) : undefined;
  const isTold = isNew && known.length > 0 && wantsLoginMails(user);
  return [
    ...(forgotten === undefined ? [] : [effects.remove("logins", forgotten.key)]),
    effects.put("logins", [user.id, login.fingerprint], { seenAt: view.now }),
    ...(isTold ? mailEffects(view, newLoginMail(view, user, login)) : []),
  ];
}

function newLoginMail(view: View, user: UserRecord, { client, address }: Login) {
  const { email, timezone } = user;
  return { template: "new-login", to: user, data: { email, client, address, at: view.now, timezone } } as const;
}

/** Spec 2.3, enable_login_emails; on by default. */
function wantsLoginMails(user: UserRecord): boolean {
  return user.botType === null && userSetting(user, "enable_login_emails");
}
