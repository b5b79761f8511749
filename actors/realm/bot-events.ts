/** `realm_bot` events of changes that are made to bots as to people: only who administers the bot is told (public API). */
import type { UserRecord } from "../../schemas/records.ts";
import { isAdministrator } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import { type Effect, effects } from "../effects.ts";

/** Nothing for people. */
export function botEvent(view: View, user: UserRecord, changes: Readonly<Record<string, unknown>>): Effect[] {
  if (user.botType === null) return [];
  const watchers = [...view.users.all()].filter(
    (viewer) => viewer.isActive && viewer.id !== user.id && (isAdministrator(viewer) || viewer.id === user.botOwnerId),
  );
  const audience = { to: "users", ids: watchers.map(({ id }) => id) } as const;
  return [effects.emit("realm_bot", { op: "update", bot: { user_id: user.id, ...changes } }, audience)];
}
