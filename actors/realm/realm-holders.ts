/**
 * Users who are named individually in the organization's permissions (spec 2.2). Deactivated users are not shown.
 * Clients remove a deactivated user themselves; those that do not receive the deactivation receive the new values. On
 * reactivation everybody receives them (OpenAPI, realm update_dict).
 */

import { shownGroupValue } from "../../domain/group-values.ts";
import { withOverrides } from "../../domain/overlay-view.ts";
import { sharesConversation } from "../../domain/people.ts";
import { canAccessAllUsers, isGuest, realmGroupId } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import { realmGroupSettingNames } from "../../schemas/group-settings.ts";
import type { NewPermissions } from "../../schemas/realm-settings.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Effect, effects } from "../protocol/effects.ts";
import { realmEvent, realmEventBody } from "./realm-events.ts";

/** @param after the account after the change */
export function holderLeaves(view: View, after: UserRecord): Effect[] {
  const data = valuesNaming(view, after);
  if (data === null) return [];
  const ids = guestsWithoutAccess(view, after);
  return ids.length === 0 ? [] : [effects.emit("realm", realmEventBody(data), { to: "users", ids })];
}

/**
 * Ids of guests, ascending, who do not receive the user's deactivation. This includes guests who saw the user only in
 * shared channels; the view still contains those channels.
 */
export function guestsWithoutAccess(view: View, after: UserRecord): number[] {
  if (after.botType !== null) return [];
  return [...view.users.all()]
    .filter((user) => user.isActive && isGuest(user) && user.id !== after.id && !canAccessAllUsers(view, user))
    .filter((guest) => !sharesConversation(view, guest.id, after.id))
    .map((user) => user.id)
    .sort((a, b) => a - b);
}

/** @param after the account after the change */
export function holderReturns(view: View, after: UserRecord): Effect[] {
  const data = valuesNaming(view, after);
  return data === null ? [] : [realmEvent(data)];
}

/** null: no permission names the user. */
function valuesNaming(view: View, after: UserRecord): NewPermissions | null {
  const then = withOverrides(view, { users: new Map([[after.id, after]]) });
  const named = realmGroupSettingNames.filter((name) => {
    const group = view.groups.get(realmGroupId(view, name));
    return group !== undefined && group.name === null && group.memberIds.includes(after.id);
  });
  if (named.length === 0) return null;
  return Object.fromEntries(named.map((name) => [name, shownGroupValue(then, realmGroupId(view, name))]));
}
