/** Whether there may be one more bot (public API: /bots; behaviour 1.9): new ones, ones that come back or change hands. */
import { botTypes } from "../../schemas/bots.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/records.ts";
import { hasRealmPermission, isGuest } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";

export function refuseCreation(view: View, caller: UserRecord, botType: number): Refusal | null {
  return refuseKind(view, caller, botType) ?? refuseTooMany(view, caller.id);
}

/** Who brings a bot back could make one like it (behaviour 1.9), and it is one more with a name of its own. */
export function refuseReturn(view: View, caller: UserRecord, bot: UserRecord, ownerId: number): Refusal | null {
  const refused = refuseKind(view, caller, bot.botType ?? 0);
  if (refused !== null) return refused;
  return hasTooMany(view, ownerId) ? refuse.badRequest("Too many bots") : refuseNameInUse(view, bot.fullName);
}

function refuseKind(view: View, caller: UserRecord, botType: number): Refusal | null {
  const refused = refuseCaller(caller);
  if (refused !== null) return refused;
  const isAllowed =
    hasRealmPermission(view, caller, "can_create_bots_group") ||
    (botType === botTypes.incomingWebhook && hasRealmPermission(view, caller, "can_create_write_only_bots_group"));
  return isAllowed ? null : refuse.insufficientPermission();
}

/** No guests, no bots: whom the performer let in may have become one (M7). */
export function refuseCaller(caller: UserRecord): Refusal | null {
  if (isGuest(caller)) return refuse.guestsNotAllowed();
  return caller.botType === null ? null : refuse.botsNotAllowed();
}

/** Active ones are bounded per owner, so that all of them can be deactivated together with the owner, in one turn (S3). */
export function refuseTooMany(view: View, ownerId: number): Refusal | null {
  const isFull = hasTooMany(view, ownerId) || view.users.size >= limits.users_per_realm_max;
  return isFull ? refuse.badRequest("Too many bots") : null;
}

function hasTooMany(view: View, ownerId: number): boolean {
  const active = [...view.bots.ofOwner(ownerId)].filter((id) => view.users.get(id)?.isActive === true);
  return active.length >= limits.bots_per_owner_max;
}

/** Active people and bots keep their names to themselves, as written. */
export function refuseNameInUse(view: View, fullName: string): Refusal | null {
  const namesakes = [...view.users.named(fullName)].flatMap((id) => view.users.get(id) ?? []);
  const isTaken = namesakes.some((user) => user.isActive && user.fullName === fullName);
  return isTaken ? refuse.badRequest("Name is already in use!") : null;
}
