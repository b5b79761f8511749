/** Rows of sessions: when they end, and what ends with them (D256). */

import type { View } from "../../domain/view.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { SessionRecord } from "../../schemas/sessions.ts";
import { type Effect, effects } from "../protocol/decision.ts";
import { cancelTimer } from "./timers.ts";

export function endSession(session: SessionRecord): Effect[] {
  return [...cancelTimer(session), effects.remove("sessions", session.hash)];
}

/** @param except the hash of a session that continues; null: all of them end */
export function endSessionsOf(view: View, userId: UserId, except: string | null): Effect[] {
  return view
    .sessionsOf(userId)
    .filter(({ hash }) => hash !== except)
    .flatMap(endSession);
}

/** The sessions that must end before the user gets another one: those that were not used for longest. */
export function surplusSessions(view: View, userId: UserId): readonly SessionRecord[] {
  const own = [...view.sessionsOf(userId)].sort((a, b) => a.lastUsedAt - b.lastUsedAt || a.id - b.id);
  return own.slice(0, Math.max(0, own.length - limits.sessions_per_user_max + 1));
}
