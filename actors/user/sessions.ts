/**
 * A user's sessions (D256). Each has a timer for its end by lack of use; a use moves the end, and the timer that finds
 * the session still valid is set again.
 */

import { sessionEnd } from "../../domain/sessions.ts";
import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { SessionRecord } from "../../schemas/sessions.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Address, type Command, command, type Params } from "../protocol/commands.ts";
import { done, forServer, forUser, type Outcome } from "../protocol/decide.ts";
import { type Effect, effects } from "../protocol/effects.ts";
import { endSession, surplusSessions } from "../rules/sessions.ts";
import { nextTimer } from "../rules/timers.ts";
import { loginEffects } from "./logins.ts";

/** The password was verified before the turn; if it has changed since, the log-in is rejected (S2). */
export function startSession(
  user: UserRecord,
  params: Params<"user.session.start">,
  view: View,
  asked: Command<"user.session.start">,
): Outcome {
  const { hash, client, host, login, passwordHash } = params;
  if (view.row("credentials", user.id)?.passwordHash !== passwordHash) return refuse.authenticationFailed();
  const id = view.counter("session") + 1;
  const session = { hash, id, userId: user.id, createdAt: view.now, lastUsedAt: view.now, client, host };
  return done({ user_id: user.id, email: user.email, full_name: user.fullName }, [
    ...loginEffects(view, user, login),
    ...surplusSessions(view, user.id).flatMap(endSession),
    effects.setCounter("session", id),
    ...withTimer(view, asked.to, session),
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
  asked: Command<"user.session.expire">,
): Outcome {
  const session = view.session(params.hash);
  if (session === undefined) return done({}, []);
  if (sessionEnd(session) <= view.now) return done({}, [effects.remove("sessions", session.hash)]);
  return done({}, session.dueAt <= view.now ? withTimer(view, asked.to, session) : []);
}

export const sessionsDecisions = {
  "user.session.start": forUser(startSession),
  "user.session.end": forUser(endOwnSession),
  "user.session.used": forUser(useSession),
  "user.session.expire": forServer(expireSession),
} as const;
