/** What the organization lets people change of their own accounts (D5; behaviour 2.1); administrators may always. */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import type { UserRecord } from "../../schemas/records.ts";
import { isAdministrator } from "./permissions.ts";
import { realmSetting } from "./realm-settings.ts";
import type { View } from "./view.ts";

/** Where not, a new name is ignored without a word. */
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

/** Names differ by more than case and the way they are composed. @param userId whose name it is to be; null: somebody new */
export function refuseSharedName(view: View, fullName: string, userId: number | null): Refusal | null {
  if (!realmSetting(view, "require_unique_names")) return null;
  const own = userId === null ? undefined : view.users.get(userId)?.fullName;
  // Who has a name already keeps it, though somebody else may have had it first.
  if (own !== undefined && fold(own) === fold(fullName)) return null;
  const isTaken = [...view.users.named(fullName)].some((id) => id !== userId);
  return isTaken ? refuse.badRequest("Unique names required in this organization.") : null;
}
