/** When a session ends by itself (D256). */
import { limits } from "../schemas/limits.ts";
import type { SessionRecord } from "../schemas/sessions.ts";

export function sessionEnd({ createdAt, lastUsedAt }: Pick<SessionRecord, "createdAt" | "lastUsedAt">): number {
  return Math.min(lastUsedAt + limits.session_idle_ms, createdAt + limits.session_lifetime_ms);
}
