/**
 * People whom permissions of the organization name one by one (spec 2.2): those of them who are deactivated are not shown. Clients
 * leave out whom they see deactivated; who cannot see it is told the values, as everybody is when somebody returns (OpenAPI,
 * realm update_dict).
 */
import { realmGroupSettingNames } from "../../schemas/group-settings.ts";
import type { UserRecord } from "../../schemas/records.ts";
import { shownGroupValue } from "../../src/domain/group-values.ts";
import { sharesConversation } from "../../src/domain/people.ts";
import { canAccessAllUsers, isGuest, realmGroupId } from "../../src/domain/permissions.ts";
import { supposing } from "../../src/domain/supposed-view.ts";
import type { View } from "../../src/domain/view.ts";
import { type Effect, effects } from "../effects.ts";
import { realmEvent, realmEventBody } from "./realm-events.ts";

/** @param after the account as it will be */
export function holderLeaves(view: View, after: UserRecord): Effect[] {
  const data = valuesNaming(view, after);
  if (data === null) return [];
  const ids = strangersTo(view, after);
  return ids.length === 0 ? [] : [effects.emit("realm", realmEventBody(data), { to: "users", ids })];
}

/**
 * Ids of guests who do not see that somebody is deactivated, ascending: also those who knew the person by channels alone, where
 * they have met for the last time (the view still has the person in them).
 */
export function strangersTo(view: View, after: UserRecord): number[] {
  if (after.botType !== null) return [];
  return [...view.users.all()]
    .filter((user) => user.isActive && isGuest(user) && user.id !== after.id && !canAccessAllUsers(view, user))
    .filter((guest) => !sharesConversation(view, guest.id, after.id))
    .map((user) => user.id)
    .sort((a, b) => a - b);
}

/** @param after the account as it will be */
export function holderReturns(view: View, after: UserRecord): Effect[] {
  const data = valuesNaming(view, after);
  return data === null ? [] : [realmEvent(data)];
}

/** null: no permission names the person. */
function valuesNaming(view: View, after: UserRecord): Readonly<Record<string, unknown>> | null {
  const then = supposing(view, { users: new Map([[after.id, after]]) });
  const named = realmGroupSettingNames.filter((name) => {
    const group = view.groups.get(realmGroupId(view, name));
    return group !== undefined && group.name === null && group.memberIds.includes(after.id);
  });
  if (named.length === 0) return null;
  return Object.fromEntries(named.map((name) => [name, shownGroupValue(then, realmGroupId(view, name))]));
}
