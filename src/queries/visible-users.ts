/**
 * The users in POST /register's state (behaviour 4.1), grouped into active and deactivated ones. For restricted guests,
 * users they may not see are replaced by placeholders, or omitted if the client supports incomplete lists.
 */

import { apiEmail, avatarFields, unknownUserBody, userBody, visibleUsers } from "../../domain/people.ts";
import { hasRealmPermission, isAdministrator, isGuest } from "../../domain/permissions.ts";
import { realmSetting } from "../../domain/realm-settings.ts";
import type { View } from "../../domain/view.ts";
import { roles } from "../../schemas/types.ts";
import type { UserBody, UserRecord } from "../../schemas/users.ts";
import { EncodedPeople } from "./encoded-users.ts";
import { type ProfileDatumBody, profileData } from "./profile-data.ts";
import type { BeginSection, Section, StateRequest } from "./state-section.ts";

type VisibleUser = Omit<UserBody, "is_active"> & { readonly profile_data?: Record<string, ProfileDatumBody> };

export function shownPeople(
  view: View,
  viewer: UserRecord,
  request: Pick<StateRequest, "clientGravatar" | "allowsIncompleteUserList">,
): { readonly active: readonly VisibleUser[]; readonly inactive: readonly VisibleUser[] } {
  const known = visibleUsers(view, viewer);
  const active: VisibleUser[] = [];
  const inactive: VisibleUser[] = [];
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

export const realmUserState: Section<"realm_user"> = (
  view,
  user,
  { clientGravatar, allowsIncompleteUserList, webPublicStreamsEnabled },
) => {
  const { active, inactive } = shownPeople(view, user, { clientGravatar, allowsIncompleteUserList });
  return {
    realm_users: active,
    realm_non_active_users: inactive,
    ...ownFields(view, user, webPublicStreamsEnabled),
  };
};

/** The same for a viewer who may see all users, from cached JSON. */
export const realmUserPieces: BeginSection<"realm_user"> = (view, _user, request) => ({
  collect(user) {
    const { active, inactive } = new EncodedPeople(view).collect(user, request.clientGravatar);
    return {
      realm_users: active,
      realm_non_active_users: inactive,
      ...ownFields(view, user, request.webPublicStreamsEnabled),
    };
  },
});

function ownFields(view: View, user: UserRecord, isWebPublicAllowed: boolean) {
  return {
    cross_realm_bots: [],
    user_id: user.id,
    email: apiEmail(user),
    delivery_email: user.email,
    full_name: user.fullName,
    ...ownAvatar(user),
    is_admin: isAdministrator(user),
    is_owner: user.role === roles.owner,
    is_moderator: user.role === roles.moderator,
    is_guest: isGuest(user),
    ...ownRights(view, user, isWebPublicAllowed),
  };
}

/** Values that clients would otherwise derive from permissions (OpenAPI register-queue). */
function ownRights(view: View, user: UserRecord, isWebPublicAllowed: boolean) {
  const canCreatePublic = hasRealmPermission(view, user, "can_create_public_channel_group");
  const canCreatePrivate = hasRealmPermission(view, user, "can_create_private_channel_group");
  const isOpen = isWebPublicAllowed && realmSetting(view, "enable_spectator_access");
  return {
    can_create_public_streams: canCreatePublic,
    can_create_private_streams: canCreatePrivate,
    can_create_streams: canCreatePublic || canCreatePrivate,
    can_create_web_public_streams: isOpen && hasRealmPermission(view, user, "can_create_web_public_channel_group"),
    can_subscribe_other_users: hasRealmPermission(view, user, "can_add_subscribers_group"),
    can_invite_others_to_realm: hasRealmPermission(view, user, "can_invite_users_group"),
  };
}

/** The user's own avatar, always with its URL. */
function ownAvatar(user: UserRecord) {
  const { avatar_version: _version, ...fields } = avatarFields(user, false);
  return fields;
}
