/** GET /users (spec 4.15, D27): everybody the viewer may know of. */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { UserRecord } from "../../schemas/records.ts";
import { canAccessUser, userBody } from "../domain/people.ts";
import { profileData } from "../domain/profiles.ts";
import type { View } from "../domain/view.ts";

export interface UsersQuery {
  readonly client_gravatar: boolean;
  readonly include_custom_profile_fields: boolean;
  readonly user_ids?: readonly number[] | undefined;
}

export function listUsers(
  view: View,
  viewer: UserRecord | null,
  query: UsersQuery,
): { readonly kind: "ok"; readonly answer: { readonly members: readonly unknown[] } } | Refusal {
  if (viewer === null && view.realm.settings["enable_spectator_access"] !== true) return refuse.notLoggedIn();
  const wanted =
    query.user_ids === undefined
      ? [...view.users.all()]
      : [...new Set(query.user_ids)].flatMap((id) => view.users.get(id) ?? []);
  const members = wanted
    .filter((user) => viewer === null || canAccessUser(view, viewer, user))
    .sort((a, b) => a.id - b.id)
    .map((user) => {
      const body = userBody(user, viewer, query.client_gravatar);
      const hasProfile = query.include_custom_profile_fields && viewer !== null && user.botType === null;
      return hasProfile ? { ...body, profile_data: profileData(view, user.id) } : body;
    });
  return { kind: "ok", answer: { members } };
}
