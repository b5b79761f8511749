/** GET /avatar/{user id or address} (public API): where somebody's picture is, without telling a stranger who is here. */

import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/records.ts";
import {
  apiEmail,
  avatarForSpectator,
  canAccessUser,
  computedAvatar,
  deliveryEmail,
  personByAddress,
  uploadedAvatar,
} from "../domain/people.ts";
import { realmSetting } from "../domain/realm-settings.ts";
import { isEmailAddress } from "../domain/text.ts";
import type { View } from "../domain/view.ts";

const firstVersion = 1;

/**
 * Who is not known, or may not be known to the viewer, has the picture that anybody's address would have.
 * @param viewer null: nobody is logged in; @returns null when `who` is neither an id nor an address
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
  // By id, a spectator sees what GET /users would show; by address, nothing that says whether there is such an account (S1).
  if (isId && user !== undefined && viewer === null && realmSetting(view, "enable_spectator_access")) {
    return avatarForSpectator(user, isMedium);
  }
  return computedAvatar(isId ? `user${who}@` : who, firstVersion, isMedium);
}

/** Whether an address is one of those under which the viewer knows the person: a hidden one is nobody's (S1). */
function knows(viewer: UserRecord, user: UserRecord, address: string): boolean {
  const own = [apiEmail(user), deliveryEmail(user, viewer)];
  return own.some((known) => known?.toLowerCase() === address.toLowerCase());
}
