/**
 * A user's sessions (D256). Each has a timer for its end by lack of use; a use moves the end, and the timer that finds
 * the session still valid is set again.
 *
 * Known login origins of a user, and the email about a login from a new program or location (D31; behaviour 11). Only
 * hashes of program and coarse location are stored; the ones not seen for longest are evicted first.
 *
 * A user's API keys: several, individually revocable, stored as hashes (S2).
 */
import { sessionEnd } from "../../domain/sessions.ts";
import type { View } from "../../domain/view.ts";
import type { Login } from "../../schemas/authentication.ts";
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { SessionRecord } from "../../schemas/sessions.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import type { UserRecord } from "../../schemas/users.ts";
import {
  type Address,
  type Command,
  command,
  done,
  type Effect,
  effects,
  forServer,
  forUser,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";
import { furtherKey, replaceKeys } from "../rules/api-keys.ts";
import { mailEffects } from "../rules/mail.ts";
import { endSession, surplusSessions } from "../rules/sessions.ts";
import { nextTimer } from "../rules/timers.ts";

/**
 * POST /fetch_api_key. The password was verified before the turn; if another request has changed it since, the login is
 * rejected (S2). With `api_keys_per_user_max` keys, the oldest login key is evicted, and keys marked as kept only if
 * there is no other.
 */
function addApiKey(user: UserRecord, { hash, login, passwordHash }: Params<"user.api-key.add">, view: View): Outcome {
  if (passwordHash !== undefined && view.row("credentials", user.id)?.passwordHash !== passwordHash) {
    return refuse.authenticationFailed();
  }
  return done({ email: user.email, user_id: user.id }, [
    ...(login === undefined ? [] : loginEffects(view, user, login)),
    ...furtherKey(view, user.id, hash),
  ]);
}

/**
 * POST /users/me/api_key/regenerate: the turn that creates the new key invalidates all previous ones (behaviour 11).
 */
function regenerateApiKey(user: UserRecord, params: Params<"user.api-key.regenerate">, view: View): Outcome {
  return done({}, replaceKeys(view, user.id, params.hash));
}

export const apiKeysDecisions = {
  "user.api-key.add": forUser(addApiKey),
  "user.api-key.regenerate": forUser(regenerateApiKey),
} as const;

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

/** The password was verified before the turn; if it has changed since, the log-in is rejected (S2). */
export function startSession(
  user: UserRecord,
  params: Params<"user.session.start">,
  view: View,
  request: Command<"user.session.start">,
): Outcome {
  const { hash, client, host, login, passwordHash } = params;
  if (view.row("credentials", user.id)?.passwordHash !== passwordHash) return refuse.authenticationFailed();
  const id = view.counter("session") + 1;
  const session = { hash, id, userId: user.id, createdAt: view.now, lastUsedAt: view.now, client, host };
  return done({ user_id: user.id, email: user.email, full_name: user.fullName }, [
    ...loginEffects(view, user, login),
    ...surplusSessions(view, user.id).flatMap(endSession),
    effects.setCounter("session", id),
    ...withTimer(view, request.to, session),
  ]);
}

/** The row with a timer for its end, which is the next timer of this command. */
function withTimer(view: View, to: Address, session: Omit<SessionRecord, "dueAt" | "timer">): Effect[] {
  const dueAt = sessionEnd(session);
  return [
    effects.put("sessions", session.hash, { ...session, dueAt, timer: nextTimer(view) }),
    effects.schedule(dueAt, command(to, "user.session.expire", { hash: session.hash }, null)),
  ];
}

/** DELETE /session and /sessions/{session_id}. */
export function endOwnSession(user: UserRecord, params: Params<"user.session.end">, view: View): Outcome {
  const session = view.sessionsOf(user.id).find(({ id }) => id === params.id);
  return session === undefined ? refuse.notFound("Session does not exist") : done({}, endSession(session));
}

/** Requests that arrive together report the same use: the first one records it. */
export function useSession(_user: unknown, params: Params<"user.session.used">, view: View): Outcome {
  const session = view.session(params.hash);
  if (session === undefined || view.now - session.lastUsedAt < limits.session_use_recorded_ms) return done({}, []);
  return done({}, [effects.put("sessions", session.hash, { ...session, lastUsedAt: view.now })]);
}

/** A timer that `set-time` has copied fires early and changes nothing. */
export function expireSession(
  params: Params<"user.session.expire">,
  view: View,
  request: Command<"user.session.expire">,
): Outcome {
  const session = view.session(params.hash);
  if (session === undefined) return done({}, []);
  if (sessionEnd(session) <= view.now) return done({}, [effects.remove("sessions", session.hash)]);
  return done({}, session.dueAt <= view.now ? withTimer(view, request.to, session) : []);
}

export const sessionsDecisions = {
  "user.session.start": forUser(startSession),
  "user.session.end": forUser(endOwnSession),
  "user.session.used": forUser(useSession),
  "user.session.expire": forServer(expireSession),
} as const;
