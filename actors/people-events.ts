/** Events about a person that several decisions emit (behaviour 2.1): what each viewer is told is built when it is delivered. */
import type { UserRecord } from "../schemas/records.ts";
import { addressSight } from "../src/domain/people.ts";
import { isAdministrator } from "../src/domain/permissions.ts";
import type { View } from "../src/domain/view.ts";
import { type Effect, effects } from "./effects.ts";

/** A viewer is told of the address in up to three pieces: the real one, the one in messages, and the picture made from it. */
const addressPieces = 3;

/** After a change of the address or of who may see it; nothing when neither changed. */
export function addressEvents(before: UserRecord, after: UserRecord): Effect[] {
  const [was, is] = [addressSight(before), addressSight(after)];
  if (JSON.stringify(was) === JSON.stringify(is)) return [];
  const body = { op: "update_address", user_id: after.id, before: was, after: is };
  return [effects.emit("realm_user", body, { to: "realm" }, addressPieces)];
}

/** After a change of the picture. */
export function avatarEvent(user: UserRecord): Effect {
  return effects.emit("realm_user", { op: "update_avatar", user_id: user.id }, { to: "realm" });
}

/** Ids of the active administrators, and of one person more. */
export function administratorsAnd(view: View, userId: number | null): number[] {
  const ids = new Set(userId === null ? [] : [userId]);
  for (const user of view.users.all()) if (user.isActive && isAdministrator(user)) ids.add(user.id);
  return [...ids].sort((a, b) => a - b);
}
