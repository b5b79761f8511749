/** How a user appears to others (spec 2.6; behaviour 11): API address, real address, avatar. */

import { createHash } from "node:crypto";
import { mediumName, picturesPath } from "../schemas/files.ts";
import type { ConversationId, UserId } from "../schemas/ids.ts";
import { limits } from "../schemas/limits.ts";
import { roles } from "../schemas/types.ts";
import { userSetting } from "../schemas/user-settings.ts";
import type { UserBody, UserRecord } from "../schemas/users.ts";
import { canAccessAllUsers, isAdministrator, isGuest } from "./permissions.ts";
import type { View } from "./view.ts";

/** The name shown for a user that the viewer may not know. */
export const unknownName = "Unknown user";

/** Host of dummy addresses; they receive no email anywhere (RFC 2606). */
const dummyHost = "colloquy.invalid";

/** The address in messages and lists: the real one only if everyone may see it. */
export function apiEmail(user: UserRecord): string {
  return userSetting(user, "email_address_visibility") === 1 ? user.email : dummyEmail(user);
}

function dummyEmail(user: UserRecord): string {
  return `user${user.id}@${dummyHost}`;
}

/** Addresses that the server itself hands out: an account with such an address could be mistaken for another user. */
export function isReservedAddress(address: string): boolean {
  const [, domain] = dummyParts(address) ?? [];
  return domain === dummyHost;
}

/** Id and domain of an address in dummy form. */
function dummyParts(address: string): readonly [id: number, domain: string] | null {
  const parts = /^user([1-9]\d{0,14})@(.+)$/.exec(address.toLowerCase());
  return parts === null ? null : [Number(parts[1]), parts[2] ?? ""];
}

/**
 * The account that a caller names by address (spec 4.8): by the real address if the caller may see it, by the dummy
 * address always.
 * @param host the server's name as the caller uses it, without port: older clients' dummy addresses end in it
 */
export function accountAt(view: View, viewer: UserRecord, address: string, host: string): UserRecord | undefined {
  const known = view.users.byEmail(address);
  // An account's own address never identifies another user, not even if it is hidden.
  if (known !== undefined) return deliveryEmail(known, viewer) === null ? undefined : known;
  const [id, domain] = dummyParts(address) ?? [0, ""];
  return domain === dummyHost || domain === host.toLowerCase() ? view.users.get(id) : undefined;
}

/**
 * The user with an address that the viewer can see: the real address if it is visible to them, or the dummy address
 * that replaces a hidden one. Any other address matches no user, so guessing reveals nothing (S1).
 */
export function personByAddress(view: View, viewer: UserRecord, address: string): UserRecord | undefined {
  const known = view.users.byEmail(address);
  if (known !== undefined) {
    const isShown = deliveryEmail(known, viewer) !== null && canAccessUser(view, viewer, known);
    return isShown ? known : undefined;
  }
  const user = view.users.get(dummyParts(address)?.[0] ?? 0);
  return user !== undefined && addressFor(view, viewer, user) === address.toLowerCase() ? user : undefined;
}

/** The address that a viewer sees in messages and lists. */
export function addressFor(view: View, viewer: UserRecord, user: UserRecord): string {
  return canAccessUser(view, viewer, user) ? apiEmail(user) : dummyEmail(user);
}

/** The least privileged role that sees the address, by visibility (spec 2.3, email_address_visibility). */
const visibleToRole: Readonly<Record<number, number>> = {
  1: roles.guest,
  2: roles.member,
  3: roles.administrator,
  4: 0,
  5: roles.moderator,
};

/** The real address if this viewer may see it, or null. Users always see their own. */
export function deliveryEmail(user: UserRecord, viewer: UserRecord | null): string | null {
  if (viewer === null) return null;
  if (viewer.id === user.id) return user.email;
  return viewer.role <= (visibleToRole[userSetting(user, "email_address_visibility")] ?? 0) ? user.email : null;
}

/** Users with the same key see the same addresses of others, so what is built for one can be shared. */
export function visibilityOf(viewer: UserRecord | null): string {
  if (viewer === null) return "spectator";
  const levels = Object.entries(visibleToRole).filter(([, role]) => viewer.role <= role);
  return levels.map(([level]) => level).join("");
}

/** A user with the viewer's role and an id that no user has. */
export function uninvolvedViewer(viewer: UserRecord): UserRecord {
  return { ...viewer, id: 0 };
}

/** Whether the user's own entry differs from what others of their role see: an address that is hidden from them. */
export function isHiddenFromPeers(user: UserRecord): boolean {
  return deliveryEmail(user, uninvolvedViewer(user)) === null;
}

const avatarUrls = new WeakMap<UserRecord, string>();

/**
 * The avatar URL, relative to the organization's address if it was uploaded. Otherwise null if the client can compute
 * it from the address (`client_gravatar`, spec 2.6), which requires that it sees the address; else the URL at the
 * public avatar service for the address shown in lists, because a hidden one must not leak as a hash (S1). Clients
 * fetch it; this server never does.
 */
export function avatarUrl(user: UserRecord, clientGravatar: false): string;
export function avatarUrl(user: UserRecord, clientGravatar: boolean): string | null;
export function avatarUrl(user: UserRecord, clientGravatar: boolean): string | null {
  if (user.avatarFile === null && clientGravatar && userSetting(user, "email_address_visibility") === 1) return null;
  let url = avatarUrls.get(user);
  if (url === undefined) {
    url = uploadedAvatar(user, false) ?? computedAvatar(apiEmail(user), user.avatarVersion, false);
    avatarUrls.set(user, url);
  }
  return url;
}

/** The same avatar, larger. */
function mediumAvatarUrl(user: UserRecord, clientGravatar: boolean): string | null {
  const isComputedByClient = avatarUrl(user, clientGravatar) === null;
  return isComputedByClient
    ? null
    : (uploadedAvatar(user, true) ?? computedAvatar(apiEmail(user), user.avatarVersion, true));
}

/** Returns null if there is none. */
export function uploadedAvatar(user: UserRecord, isMedium: boolean): string | null {
  if (user.avatarFile === null) return null;
  const file = isMedium ? mediumName(user.avatarFile) : user.avatarFile;
  return `${picturesPath}${file}?version=${user.avatarVersion}`;
}

/** The avatar URL at the public avatar service for an address. */
export function computedAvatar(email: string, version: number, isMedium: boolean): string {
  const digest = createHash("md5").update(email.toLowerCase()).digest("hex");
  const size = isMedium ? "&s=500" : "";
  return `https://secure.gravatar.com/avatar/${digest}?d=identicon${size}&version=${version}`;
}

/** The avatar for viewers who may not see the address, not even as a hash (D27). */
export function avatarForSpectator(user: UserRecord, isMedium: boolean): string {
  return uploadedAvatar(user, isMedium) ?? computedAvatar(dummyEmail(user), user.avatarVersion, isMedium);
}

/** Source and URLs of an avatar, as in events and /register: "G" is computed from the address, "U" is uploaded. */
export function avatarFields(user: UserRecord, clientGravatar: boolean) {
  return {
    avatar_source: user.avatarFile === null ? ("G" as const) : ("U" as const),
    avatar_url: avatarUrl(user, clientGravatar),
    avatar_url_medium: mediumAvatarUrl(user, clientGravatar),
    avatar_version: user.avatarVersion,
  };
}

/** The data that decides which address of a user a viewer sees. */
export interface AddressVisibility {
  readonly email: string;
  readonly settings: { readonly email_address_visibility: number };
}

export function addressVisibility(user: UserRecord): AddressVisibility {
  return {
    email: user.email,
    settings: { email_address_visibility: userSetting(user, "email_address_visibility") },
  };
}

/**
 * Whether the viewer may know the user at all (`can_access_all_users_group`): restricted guests know bots, and users
 * who share a channel or a direct conversation with them.
 */
export function canAccessUser(view: View, viewer: UserRecord, user: UserRecord): boolean {
  if (viewer.id === user.id || user.botType !== null || canAccessAllUsers(view, viewer)) return true;
  return sharesChannel(view, viewer, user) || sharesConversation(view, viewer.id, user.id);
}

/** The same, without one direct conversation. */
export function canAccessUserWithout(
  view: View,
  viewer: UserRecord,
  user: UserRecord,
  conversationId: ConversationId,
): boolean {
  if (viewer.id === user.id || user.botType !== null || canAccessAllUsers(view, viewer)) return true;
  return sharesChannel(view, viewer, user) || sharesConversation(view, viewer.id, user.id, conversationId);
}

function sharesChannel(view: View, viewer: UserRecord, user: UserRecord): boolean {
  for (const own of view.subscriptions.ofUser(viewer.id)) {
    if (own.isActive && view.subscriptions.isSubscribed(user.id, own.channelId)) return true;
  }
  return false;
}

/**
 * Whether two users share one of the first one's newest direct conversations.
 * @param exceptId a conversation to ignore
 */
export function sharesConversation(view: View, userId: UserId, otherId: number, exceptId = 0): boolean {
  return conversationsOf(view, userId).some(
    (id) => id !== exceptId && view.row("directConversations", [otherId, id]) !== undefined,
  );
}

function conversationsOf(view: View, userId: UserId): number[] {
  const range = { start: [userId + 1], end: [userId], reverse: true, limit: limits.known_conversations_max };
  return view.keys("directConversations", range).map(([, conversationId]) => conversationId);
}

/** Ids of the users that a restricted guest may know, without bots; null if they may know everyone. */
export function visibleUsers(view: View, viewer: UserRecord): ReadonlySet<number> | null {
  if (canAccessAllUsers(view, viewer)) return null;
  const known = new Set([viewer.id]);
  for (const own of view.subscriptions.ofUser(viewer.id)) {
    if (!own.isActive) continue;
    for (const id of view.subscriptions.ofChannel(own.channelId)) known.add(id);
  }
  for (const conversationId of conversationsOf(view, viewer.id)) {
    for (const id of view.row("conversations", conversationId)?.userIds ?? []) known.add(id);
  }
  return known;
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

/** Placeholder for a user that the viewer may not know (public API: "Unknown user"). */
export function unknownUserBody(id: number): UserBody {
  const email = `user${id}@${dummyHost}`;
  return {
    user_id: id,
    email,
    delivery_email: null,
    full_name: unknownName,
    avatar_url: computedAvatar(email, 1, false),
    avatar_version: 1,
    date_joined: new Date(0).toISOString(),
    timezone: "",
    role: roles.member,
    is_active: true,
    is_admin: false,
    is_owner: false,
    is_guest: false,
    is_bot: false,
    bot_type: null,
    bot_owner_id: null,
  };
}
