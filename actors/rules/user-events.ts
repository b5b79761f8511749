/** User events that several decisions emit (behaviour 2.1). Each viewer's version is built when it is delivered. */

import { addressVisibility } from "../../domain/people.ts";
import { isAdministrator } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { UserId } from "../../schemas/ids.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Effect, effects } from "../protocol/decision.ts";

/**
 * A viewer may receive an address change as up to three events: the real address, the address shown in messages, and
 * the avatar derived from it. Each needs its own event id.
 */
const addressChunks = 3;

/** Emits an event if the address or its visibility changed. */
export function addressEvents(before: UserRecord, after: UserRecord): Effect[] {
  const [was, is] = [addressVisibility(before), addressVisibility(after)];
  if (JSON.stringify(was) === JSON.stringify(is)) return [];
  const body = { op: "update_address" as const, user_id: after.id, before: was, after: is };
  return [effects.emit("realm_user", body, { to: "realm" }, addressChunks)];
}

export function avatarEvent(user: UserRecord): Effect {
  return effects.emit("realm_user", { op: "update_avatar", user_id: user.id }, { to: "realm" });
}

/** Ids of the active administrators, and of one more user. */
export function administratorsAnd(view: View, userId: UserId | null): number[] {
  const ids = new Set(userId === null ? [] : [userId]);
  for (const user of view.users.all()) if (user.isActive && isAdministrator(user)) ids.add(user.id);
  return [...ids].sort((a, b) => a - b);
}
