/** GET /sessions: a user's sessions, for their owner (D256). */
import { sessionEnd } from "../../domain/sessions.ts";
import type { View } from "../../domain/view.ts";

/** @param currentHash of the session that asks; null if an API key does */
export function sessionsOf(view: View, userId: number, currentHash: string | null) {
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
