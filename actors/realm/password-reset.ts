/**
 * Resets of forgotten passwords (D257). A request for an address without an account writes, too, so
 * that neither its answer nor its time shows whether there is one.
 */

import { accountOfReset } from "../../domain/password-resets.ts";
import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { command, done, type Effect, effects, forServer, type Outcome, type Params } from "../protocol/decision.ts";
import { endLoginKeys } from "../rules/api-keys.ts";
import { revokeLinks } from "../rules/email-changes.ts";
import { mailEffects } from "../rules/mail.ts";
import { resetRequestsOf, revokeResets } from "../rules/password-resets.ts";
import { endSessionsOf } from "../rules/sessions.ts";
import { endSetup } from "../rules/setup.ts";

const hourMs = 60 * 60 * 1000;

export function requestReset({ email, keyHash, link }: Params<"password.reset-request">, view: View): Outcome {
  const counted = effects.setCounter("passwordReset", view.counter("passwordReset") + 1);
  const user = resettable(view, email);
  if (user === undefined || isRepeated(view, user) || isLimited(view, user.id)) return done({}, [counted]);
  return done({}, [
    counted,
    ...newLink(view, user, keyHash),
    effects.put("passwordResetRequests", [user.id, view.now, keyHash], {}),
    ...mailEffects(view, { template: "password-reset", to: user, data: { email: user.email, link } }),
  ]);
}

/** For an operator, who is not limited and uses up nothing of the user's own limit. */
export function makeResetLink({ email, keyHash }: Params<"password.reset-link">, view: View): Outcome {
  const user = resettable(view, email);
  if (user === undefined) return refuse.badRequest("There is no active account of a person with this address");
  return done({}, [...newLink(view, user, keyHash), effects.put("operatorResets", user.id, { keyHash })]);
}

/** Bots have no password. */
function resettable(view: View, email: string): UserRecord | undefined {
  const user = view.users.byEmail(email);
  return user?.isActive === true && user.botType === null ? user : undefined;
}

/** The link of a moment ago is on its way and still valid: another email would only end that link. */
function isRepeated(view: View, user: UserRecord): boolean {
  const [newest] = resetRequestsOf(view, user.id);
  if (newest === undefined) return false;
  const [, requestedAt, keyHash] = newest;
  if (requestedAt <= view.now - limits.password_reset_repeat_ms) return false;
  return accountOfReset(view, view.row("passwordResets", keyHash))?.id === user.id;
}

function isLimited(view: View, userId: UserId): boolean {
  const times = resetRequestsOf(view, userId).map(([, requestedAt]) => requestedAt);
  const inHour = times.filter((time) => time > view.now - hourMs).length;
  const inDay = times.filter((time) => time > view.now - 24 * hourMs).length;
  return inHour >= limits.password_resets_per_hour_max || inDay >= limits.password_resets_per_day_max;
}

/** A new link replaces the previous one. */
function newLink(view: View, user: UserRecord, keyHash: string): Effect[] {
  const params = { keyHash, userId: user.id, requestedAt: view.now };
  return [
    ...revokeResets(view, user.id),
    effects.put("passwordResets", keyHash, { userId: user.id, email: user.email, createdAt: view.now }),
    effects.schedule(
      view.now + limits.password_reset_link_ms,
      command({ actor: "realm" }, "password.reset-expire", params, null),
    ),
  ];
}

/** Somebody else may know the old password: everything that was logged in with it ends. */
export function resetPassword({ keyHash, passwordHash }: Params<"password.reset">, view: View): Outcome {
  const user = accountOfReset(view, view.row("passwordResets", keyHash));
  if (user === undefined) return refuse.notFound();
  return done({}, [
    ...revokeResets(view, user.id),
    effects.put("credentials", user.id, { userId: user.id, passwordHash }),
    ...endSessionsOf(view, user.id, null),
    ...endLoginKeys(view, user.id),
    ...revokeLinks(view, user.id),
    ...endSetup(view, user.id),
    ...mailEffects(view, { template: "password-changed", to: user, data: { email: user.email } }),
  ]);
}

export function expireReset({ keyHash, userId, requestedAt }: Params<"password.reset-expire">, view: View): Outcome {
  const isOfOperator = view.row("operatorResets", userId)?.keyHash === keyHash;
  return done({}, [
    effects.remove("passwordResets", keyHash),
    effects.remove("passwordResetRequests", [userId, requestedAt, keyHash]),
    ...(isOfOperator ? [effects.remove("operatorResets", userId)] : []),
  ]);
}

export const passwordResetDecisions = {
  "password.reset-request": forServer(requestReset),
  "password.reset-link": forServer(makeResetLink),
  "password.reset": forServer(resetPassword),
  "password.reset-expire": forServer(expireReset),
} as const;
