/** How a person appears to others (spec 2.6; behaviour 11): API address, real address, avatar. */
import { createHash } from "node:crypto";
import { mediumName, picturesPath } from "../../schemas/files.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/records.ts";
import { roles } from "../../schemas/types.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import { canAccessAllUsers, isAdministrator, isGuest } from "./permissions.ts";
import type { View } from "./view.ts";

/** Name of somebody of whom the viewer may not know. */
export const unknownName = "Unknown user";

/** Host of dummy addresses: they receive no mail anywhere (RFC 2606). */
const dummyHost = "colloquy.invalid";

/** The address that stands in messages and lists: the real one only when everybody may see it. */
export function apiEmail(user: UserRecord): string {
  return userSetting(user, "email_address_visibility") === 1 ? user.email : dummyEmail(user);
}

function dummyEmail(user: UserRecord): string {
  return `user${user.id}@${dummyHost}`;
}

/** Addresses that the server itself gives out: an account of that address would be taken for somebody else's. */
export function isReservedAddress(address: string): boolean {
  const [, domain] = dummyParts(address) ?? [];
  return domain === dummyHost;
}

/** Id and domain of an address that has the dummy form. */
function dummyParts(address: string): readonly [id: number, domain: string] | null {
  const parts = /^user([1-9]\d{0,14})@(.+)$/.exec(address.toLowerCase());
  return parts === null ? null : [Number(parts[1]), parts[2] ?? ""];
}

/**
 * Whose account a caller names by address (spec 4.8): the real one serves who may see it, the dummy form everybody.
 * @param host what the caller calls this server, without port: dummy addresses of older clients end in it
 */
export function accountAt(view: View, viewer: UserRecord, address: string, host: string): UserRecord | undefined {
  const known = view.users.byEmail(address);
  // An account's own address never stands for somebody else, not even where it is hidden.
  if (known !== undefined) return deliveryEmail(known, viewer) === null ? undefined : known;
  const [id, domain] = dummyParts(address) ?? [0, ""];
  return domain === dummyHost || domain === host.toLowerCase() ? view.users.get(id) : undefined;
}

/**
 * Who is meant by an address that the viewer is shown: the account's own, where the viewer may see it, or the dummy form that
 * stands for a hidden one. An address that is not shown is nobody's: whoever guesses it learns nothing (S1).
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

/** The address that a viewer is shown in messages and lists. */
export function addressFor(view: View, viewer: UserRecord, user: UserRecord): string {
  return canAccessUser(view, viewer, user) ? apiEmail(user) : dummyEmail(user);
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

/** People with the same text see everybody else's addresses alike: what is built for one serves the others. */
export function sightOf(viewer: UserRecord | null): string {
  if (viewer === null) return "spectator";
  const levels = Object.entries(visibleToRole).filter(([, role]) => viewer.role <= role);
  return levels.map(([level]) => level).join("");
}

/** Somebody of the viewer's role who is nobody in particular. */
export function stranger(viewer: UserRecord): UserRecord {
  return { ...viewer, id: 0 };
}

/** Whether one's own entry differs from what others of one's role see: an address that is hidden from them. */
export function isHiddenFromPeers(user: UserRecord): boolean {
  return deliveryEmail(user, stranger(user)) === null;
}

const avatarUrls = new WeakMap<UserRecord, string>();

/**
 * An uploaded picture's address, relative to the organization's. Without one: null when the client computes it from the address
 * (`client_gravatar`, spec 2.6): only if it can see the address; else the URL of the public avatar service for the address in
 * lists: a hidden one is not told as a hash, either (S1). Clients fetch it, this server never does.
 */
export function avatarUrl(user: UserRecord, clientGravatar: boolean): string | null {
  if (user.avatarFile === null && clientGravatar && userSetting(user, "email_address_visibility") === 1) return null;
  let url = avatarUrls.get(user);
  if (url === undefined) {
    url = uploadedAvatar(user, false) ?? computedAvatar(apiEmail(user), user.avatarVersion, false);
    avatarUrls.set(user, url);
  }
  return url;
}

/** The same picture, larger. */
function mediumAvatarUrl(user: UserRecord, clientGravatar: boolean): string | null {
  const isComputedByClient = avatarUrl(user, clientGravatar) === null;
  return isComputedByClient
    ? null
    : (uploadedAvatar(user, true) ?? computedAvatar(apiEmail(user), user.avatarVersion, true));
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

/**
 * Whether the viewer may know of the person at all (`can_access_all_users_group`): restricted guests know bots and whoever
 * shares a channel or a direct conversation with them.
 */
export function canAccessUser(view: View, viewer: UserRecord, user: UserRecord): boolean {
  if (viewer.id === user.id || user.botType !== null || canAccessAllUsers(view, viewer)) return true;
  return sharesChannel(view, viewer, user) || sharesConversation(view, viewer.id, user.id);
}

/** The same when a direct conversation has ended. */
export function canAccessUserWithout(
  view: View,
  viewer: UserRecord,
  user: UserRecord,
  conversationId: number,
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

/** Whether two people are in one of the first's newest direct conversations. @param exceptId one that does not count */
export function sharesConversation(view: View, userId: number, otherId: number, exceptId = 0): boolean {
  return conversationsOf(view, userId).some(
    (id) => id !== exceptId && view.row("directConversations", [otherId, id]) !== undefined,
  );
}

function conversationsOf(view: View, userId: number): number[] {
  const range = { start: [userId + 1], end: [userId], reverse: true, limit: limits.known_conversations_max };
  return view.keys("directConversations", range).map(([, conversationId]) => conversationId);
}

/** Ids of the people of whom a restricted guest may know, without the bots; null: of everybody. */
export function knownPeople(view: View, viewer: UserRecord): ReadonlySet<number> | null {
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

/** Stands for somebody of whom the viewer may not know (public API: "Unknown user"). */
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
