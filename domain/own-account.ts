/**
 * The changes that the organization lets users make in their own accounts (D5; behaviour 2.1); administrators may
 * always.
 */

import { type Refusal, refuse } from "../schemas/errors.ts";
import { fold } from "../schemas/fold.ts";
import type { UserId } from "../schemas/ids.ts";
import type { UserRecord } from "../schemas/users.ts";
import { isAdministrator } from "./permissions.ts";
import { realmSetting } from "./realm-settings.ts";
import type { View } from "./view.ts";

/** If not allowed, a new name is silently ignored. */
export function mayChangeName(view: View, user: UserRecord): boolean {
  return isAdministrator(user) || !realmSetting(view, "name_changes_disabled");
}

export function refuseEmailChange(view: View, user: UserRecord): Refusal | null {
  if (isAdministrator(user) || !realmSetting(view, "email_changes_disabled")) return null;
  return refuse.badRequest("Email address changes are disabled in this organization.");
}

export function refuseAvatarChange(view: View, user: UserRecord): Refusal | null {
  if (isAdministrator(user) || !realmSetting(view, "avatar_changes_disabled")) return null;
  return refuse.badRequest("Avatar changes are disabled in this organization.");
}

/**
 * Names must differ by more than case and Unicode composition.
 * @param userId the user who gets the name; null for a new user
 */
export function refuseSharedName(view: View, fullName: string, userId: UserId | null): Refusal | null {
  if (!realmSetting(view, "require_unique_names")) return null;
  const own = userId === null ? undefined : view.users.get(userId)?.fullName;
  // A user may keep their current name even if another user has it too.
  if (own !== undefined && fold(own) === fold(fullName)) return null;
  const isTaken = [...view.users.named(fullName)].some((id) => id !== userId);
  return isTaken ? refuse.badRequest("Unique names required in this organization.") : null;
}
