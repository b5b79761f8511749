/**
 * Checks whether one more bot is allowed (public API: /bots; behaviour 1.9): for new bots, reactivated bots and changes
 * of ownership.
 */

import { hasRealmPermission, isGuest } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import { botTypes } from "../../schemas/bots.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";

export function refuseCreation(view: View, caller: UserRecord, botType: number): Refusal | null {
  return refuseKind(view, caller, botType) ?? refuseTooMany(view, caller.id);
}

/**
 * Reactivating a bot requires the same permissions as creating one (behaviour 1.9). The bot counts toward the limit
 * again and needs a unique name.
 */
export function refuseReturn(view: View, caller: UserRecord, bot: UserRecord, ownerId: UserId): Refusal | null {
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

/** No guests and no bots. The caller may have become one since the request was accepted (M7). */
export function refuseCaller(caller: UserRecord): Refusal | null {
  if (isGuest(caller)) return refuse.guestsNotAllowed();
  return caller.botType === null ? null : refuse.botsNotAllowed();
}

/** The number of active bots per owner is bounded, so that all can be deactivated with their owner in one turn (S3). */
export function refuseTooMany(view: View, ownerId: UserId): Refusal | null {
  const isFull = hasTooMany(view, ownerId) || view.users.size >= limits.users_per_realm_max;
  return isFull ? refuse.badRequest("Too many bots") : null;
}

function hasTooMany(view: View, ownerId: UserId): boolean {
  const active = [...view.bots.ofOwner(ownerId)].filter((id) => view.users.get(id)?.isActive === true);
  return active.length >= limits.bots_per_owner_max;
}

/** The name of an active user or bot is unique, compared exactly. */
export function refuseNameInUse(view: View, fullName: string): Refusal | null {
  const namesakes = [...view.users.named(fullName)].flatMap((id) => view.users.get(id) ?? []);
  const isTaken = namesakes.some((user) => user.isActive && user.fullName === fullName);
  return isTaken ? refuse.badRequest("Name is already in use!") : null;
}
