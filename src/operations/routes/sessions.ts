/** Sessions of browsers (D256). */
import { command } from "../../../actors/protocol/decision.ts";
import { sessionEnd } from "../../../domain/sessions.ts";
import type { View } from "../../../domain/view.ts";
import { isRefusal, refuse } from "../../../schemas/errors.ts";
import { endSession, getSession, getSessions, logIn, logOut } from "../../../schemas/sessions.ts";
import { ok } from "../../runtime/results.ts";
import { bind, type Call, requireCaller } from "../calls.ts";
import { type LoginTools, verifyLogin } from "../identity/password-login.ts";
import { startSession } from "../identity/sessions.ts";

/** @param currentHash of the session that asks; null if an API key does */
function sessionsOf(view: View, userId: number, currentHash: string | null) {
  return [...view.sessionsOf(userId)]
    .filter((session) => view.now < sessionEnd(session))
    .sort((a, b) => b.lastUsedAt - a.lastUsedAt || b.id - a.id)
    .map(({ hash, id, client, createdAt, lastUsedAt }) => ({
      id,
      client,
      created_at: Math.floor(createdAt / 1000),
      last_used_at: Math.floor(lastUsedAt / 1000),
      current: hash === currentHash,
    }));
}

export function sessionRoutes(tools: LoginTools) {
  return [
    bind(logIn, async ({ realm, params, siteUrl, userAgent, address: addressOf }) => {
      const address = addressOf();
      const login = await verifyLogin(realm, params, address, tools);
      return isRefusal(login) ? login : startSession(realm, login, { siteUrl, userAgent, address });
    }),

    bind(getSession, (call) => {
      const { caller } = call;
      const named = caller === null ? {} : { user_id: caller.id, email: caller.email, full_name: caller.fullName };
      return ok({ ...named, session_id: current(call)?.id ?? null });
    }),

    bind(logOut, async (call) => {
      const session = current(call);
      if (session === undefined) return refuse.badRequest("This request does not belong to a session");
      const ended = await end(call, session.id);
      return ended.kind === "ok" ? { ...ok({}), session: null } : ended;
    }),

    bind(getSessions, (call) => {
      const caller = requireCaller(call);
      return ok({ sessions: sessionsOf(call.realm.view, caller.id, call.isSession ? call.keyHash : null) });
    }),

    bind(endSession, (call) => end(call, call.params.session_id)),
  ];
}

function current({ realm, isSession, keyHash }: Call) {
  return isSession && keyHash !== null ? realm.view.session(keyHash) : undefined;
}

function end(call: Call, id: number) {
  const caller = requireCaller(call);
  return call.realm.dispatcher.ask(
    command({ actor: "user", id: caller.id }, "user.session.end", { id }, caller.id),
    call.idempotencyKey,
  );
}
