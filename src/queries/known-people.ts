/**
 * The people of POST /register's state (behaviour 4.1): everybody, by whether they are active; for restricted guests, people
 * of whom they may not know are stand-ins, or left out where the client says that it can do without.
 */
import type { UserRecord } from "../../schemas/records.ts";
import { knownPeople, type UserBody, unknownUserBody, userBody } from "../domain/people.ts";
import type { View } from "../domain/view.ts";
import { type ProfileDatumBody, profileData } from "./profile-data.ts";
import type { StateRequest } from "./state-section.ts";

type Shown = Omit<UserBody, "is_active"> & { readonly profile_data?: Record<string, ProfileDatumBody> };

export function shownPeople(
  view: View,
  viewer: UserRecord,
  request: Pick<StateRequest, "clientGravatar" | "allowsIncompleteUserList">,
): { readonly active: readonly Shown[]; readonly inactive: readonly Shown[] } {
  const known = knownPeople(view, viewer);
  const active: Shown[] = [];
  const inactive: Shown[] = [];
  for (const person of view.users.all()) {
    if (known === null || known.has(person.id) || person.botType !== null) {
      const { is_active: isActive, ...body } = userBody(person, viewer, request.clientGravatar);
      const profile = person.botType === null ? { profile_data: profileData(view, person) } : {};
      (isActive ? active : inactive).push({ ...body, ...profile });
    } else if (!request.allowsIncompleteUserList) {
      const { is_active: _always, ...body } = unknownUserBody(person.id);
      active.push({ ...body, profile_data: {} });
    }
  }
  return { active, inactive };
}
