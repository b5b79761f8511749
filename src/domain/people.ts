/** How a person appears to others (spec 2.6; behaviour 11): API address, real address, avatar. */
import { createHash } from "node:crypto";
import { mediumName, picturesPath } from "../../schemas/files.ts";
import type { UserRecord } from "../../schemas/records.ts";
import { roles } from "../../schemas/types.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import { canAccessAllUsers, isAdministrator, isGuest } from "./permissions.ts";
import type { View } from "./view.ts";

/** Host of dummy addresses: they receive no mail anywhere (RFC 2606). */
const dummyHost = "colloquy.invalid";

/** The address that stands in messages and lists: the real one only when everybody may see it. */
export function apiEmail(user: UserRecord): string {
  return userSetting(user, "email_address_visibility") === 1 ? user.email : dummyEmail(user);
}

function dummyEmail(user: UserRecord): string {
  return `user${user.id}@${dummyHost}`;
}

/** Who is meant by an address: the account's own, or the dummy form of somebody whose address is hidden. */
export function personByAddress(view: View, address: string): UserRecord | undefined {
  const known = view.users.byEmail(address);
  if (known !== undefined) return known;
  const dummy = /^user(\d{1,15})@/.exec(address.toLowerCase());
  const user = dummy === null ? undefined : view.users.get(Number(dummy[1]));
  return user !== undefined && apiEmail(user) === address.toLowerCase() ? user : undefined;
}

/** The widest role that sees the address, by visibility (spec 2.3, email_address_visibility). */
const visibleToRole: Readonly<Record<number, number>> = {
  1: roles.guest,
  2: roles.member,
  3: roles.administrator,
  4: 0,
  5: roles.moderator,
};

/** The real address for this viewer, or null. One always sees one's own. */
export function deliveryEmail(user: UserRecord, viewer: UserRecord | null): string | null {
  if (viewer === null) return null;
  if (viewer.id === user.id) return user.email;
  return viewer.role <= (visibleToRole[userSetting(user, "email_address_visibility")] ?? 0) ? user.email : null;
}

const avatarUrls = new WeakMap<UserRecord, string>();

/**
 * An uploaded picture's address, relative to the organization's. Without one: null when the client computes it from the address
 * (`client_gravatar`, spec 2.6): only if it can see the address; else the URL of the public avatar service for the address;
 * clients fetch it, this server never does.
 */
export function avatarUrl(user: UserRecord, clientGravatar: boolean): string | null {
  if (user.avatarFile === null && clientGravatar && userSetting(user, "email_address_visibility") === 1) return null;
  let url = avatarUrls.get(user);
  if (url === undefined) {
    url = uploadedAvatar(user, false) ?? computedAvatar(user.email, user.avatarVersion, false);
    avatarUrls.set(user, url);
  }
  return url;
}

/** The same picture, larger. */
function mediumAvatarUrl(user: UserRecord, clientGravatar: boolean): string | null {
  const isComputedByClient = avatarUrl(user, clientGravatar) === null;
  return isComputedByClient
    ? null
    : (uploadedAvatar(user, true) ?? computedAvatar(user.email, user.avatarVersion, true));
}

/** null: there is none. */
export function uploadedAvatar(user: UserRecord, isMedium: boolean): string | null {
  if (user.avatarFile === null) return null;
  const file = isMedium ? mediumName(user.avatarFile) : user.avatarFile;
  return `${picturesPath}${file}?version=${user.avatarVersion}`;
}

/** What the public avatar service makes of an address. */
export function computedAvatar(email: string, version: number, isMedium: boolean): string {
  const digest = createHash("md5").update(email.toLowerCase()).digest("hex");
  const size = isMedium ? "&s=500" : "";
  return `https://secure.gravatar.com/avatar/${digest}?d=identicon${size}&version=${version}`;
}

/** What somebody sees who may not see the address, not even as a hash (D27). */
export function avatarForSpectator(user: UserRecord, isMedium: boolean): string {
  return uploadedAvatar(user, isMedium) ?? computedAvatar(dummyEmail(user), user.avatarVersion, isMedium);
}

/** Source and addresses of a picture, as events and /register tell them: "G" made from the address, "U" uploaded. */
export function avatarFields(user: UserRecord, clientGravatar: boolean) {
  return {
    avatar_source: user.avatarFile === null ? "G" : "U",
    avatar_url: avatarUrl(user, clientGravatar),
    avatar_url_medium: mediumAvatarUrl(user, clientGravatar),
    avatar_version: user.avatarVersion,
  };
}

/** What decides who sees which address of a person. */
export interface AddressSight {
  readonly email: string;
  readonly settings: { readonly email_address_visibility: number };
}

export function addressSight(user: UserRecord): AddressSight {
  return {
    email: user.email,
    settings: { email_address_visibility: userSetting(user, "email_address_visibility") },
  };
}

/** Whether the viewer may know of the person at all (`can_access_all_users_group`). */
export function canAccessUser(view: View, viewer: UserRecord, user: UserRecord): boolean {
  return viewer.id === user.id || canAccessAllUsers(view, viewer) || user.botType !== null;
}

export interface UserBody {
  readonly user_id: number;
  readonly email: string;
  readonly delivery_email: string | null;
  readonly full_name: string;
  readonly avatar_url: string | null;
  readonly avatar_version: number;
  readonly date_joined: string;
  readonly timezone: string;
  readonly role: number;
  readonly is_active: boolean;
  readonly is_admin: boolean;
  readonly is_owner: boolean;
  readonly is_guest: boolean;
  readonly is_bot: boolean;
  readonly bot_type: number | null;
  readonly bot_owner_id: number | null;
}

/** The user object (spec 2.6) for a viewer; null is a spectator, who sees no address, not even as a hash (D27). */
export function userBody(user: UserRecord, viewer: UserRecord | null, clientGravatar: boolean): UserBody {
  return {
    user_id: user.id,
    email: viewer === null ? dummyEmail(user) : apiEmail(user),
    delivery_email: deliveryEmail(user, viewer),
    full_name: user.fullName,
    avatar_url: viewer === null ? avatarForSpectator(user, false) : avatarUrl(user, clientGravatar),
    avatar_version: user.avatarVersion,
    date_joined: new Date(user.joinedAt).toISOString(),
    timezone: user.timezone,
    role: user.role,
    is_active: user.isActive,
    is_admin: isAdministrator(user),
    is_owner: user.role === roles.owner,
    is_guest: isGuest(user),
    is_bot: user.botType !== null,
    bot_type: user.botType,
    bot_owner_id: user.botOwnerId,
  };
}
