/**
 * GET /avatar/{user id or address} (public API): the URL of a user's avatar. It must not reveal which accounts exist.
 */

import {
  apiEmail,
  avatarForSpectator,
  canAccessUser,
  computedAvatar,
  deliveryEmail,
  personByAddress,
  uploadedAvatar,
} from "../../domain/people.ts";
import { realmSetting } from "../../domain/realm-settings.ts";
import { isEmailAddress } from "../../domain/text.ts";
import type { View } from "../../domain/view.ts";
import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";

const firstVersion = 1;

/**
 * If the user does not exist or the viewer may not see them, returns the avatar that any such address would have.
 * @param viewer null: not logged in
 * @returns null if `who` is neither an id nor an address
 */
export function avatarAddress(view: View, viewer: UserRecord | null, who: string, isMedium: boolean): string | null {
  const isId = /^\d{1,15}$/.test(who);
  if (!isId && !isEmailAddress(who, limits.email_code_points_max)) return null;
  const user = isId ? view.users.get(Number(who)) : viewer === null ? undefined : personByAddress(view, viewer, who);
  if (
    viewer !== null &&
    user !== undefined &&
    canAccessUser(view, viewer, user) &&
    (isId || knows(viewer, user, who))
  ) {
    return uploadedAvatar(user, isMedium) ?? computedAvatar(apiEmail(user), user.avatarVersion, isMedium);
  }
  // By id, spectators get what GET /users would show. By address, they get nothing that reveals whether the account
  // exists (S1).
  if (isId && user !== undefined && viewer === null && realmSetting(view, "enable_spectator_access")) {
    return avatarForSpectator(user, isMedium);
  }
  return computedAvatar(isId ? `user${who}@` : who, firstVersion, isMedium);
}

/** Whether the viewer may know the user under this address; a hidden address is treated as unknown (S1). */
function knows(viewer: UserRecord, user: UserRecord, address: string): boolean {
  const own = [apiEmail(user), deliveryEmail(user, viewer)];
  return own.some((known) => known !== null && fold(known) === fold(address));
}
