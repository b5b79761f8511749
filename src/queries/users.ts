/** GET /users and GET /users/{id or email} (spec 2.6, 4.15, D27): the users that the viewer may see. */

import { canAccessUser, userBody, visibleUsers } from "../../domain/people.ts";
import { realmSetting } from "../../domain/realm-settings.ts";
import type { View } from "../../domain/view.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { UserBody, UserRecord } from "../../schemas/users.ts";
import { type ProfileDatumBody, profileData } from "./profile-data.ts";

export interface MemberOptions {
  readonly clientGravatar: boolean;
  readonly includesProfile: boolean;
}

export type MemberBody = UserBody & { readonly profile_data?: Record<string, ProfileDatumBody> };

/**
 * The user object (spec 2.6) for a viewer, with the profile if requested; bots have none, and spectators never get it.
 */
export function memberBody(
  view: View,
  user: UserRecord,
  viewer: UserRecord | null,
  options: MemberOptions,
): MemberBody {
  const body = userBody(user, viewer, options.clientGravatar);
  const hasProfile = options.includesProfile && viewer !== null && user.botType === null;
  return hasProfile ? { ...body, profile_data: profileData(view, user) } : body;
}

/** Spectators may list users only if the organization allows spectators (D27). */
export function checkSpectator(view: View, viewer: UserRecord | null): Refusal | null {
  return viewer === null && !realmSetting(view, "enable_spectator_access") ? refuse.notLoggedIn() : null;
}

/** The users with the given ids, ascending; unknown ids and users the viewer may not see are left out. */
export function membersWithIds(
  view: View,
  viewer: UserRecord | null,
  ids: Iterable<number>,
  options: MemberOptions,
): MemberBody[] {
  return [...new Set(ids)]
    .sort((a, b) => a - b)
    .flatMap((id) => view.users.get(id) ?? [])
    .filter((user) => viewer === null || canAccessUser(view, viewer, user))
    .map((user) => memberBody(view, user, viewer, options));
}

/** All users that a restricted guest may see, ascending; null: the viewer may see everybody. */
export function knownMembers(view: View, viewer: UserRecord, options: MemberOptions): MemberBody[] | null {
  const known = visibleUsers(view, viewer);
  if (known === null) return null;
  return [...view.users.all()]
    .filter((user) => user.botType !== null || known.has(user.id))
    .sort((a, b) => a.id - b.id)
    .map((user) => memberBody(view, user, viewer, options));
}
