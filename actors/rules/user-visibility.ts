/**
 * Events when users become visible or invisible to guests restricted by `can_access_all_users_group` (public API,
 * realm_user add and remove). A guest sees the users who share a channel or a direct conversation. Each affected guest
 * receives individual events; if there are too many, the guest's queues are closed and the client registers again (E2:
 * an explicit gap).
 */

import { canAccessUser, canAccessUserWithout, sharesConversation, visibleUsers } from "../../domain/people.ts";
import { canAccessAllUsers, isGuest, realmGroupId } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelId, ConversationId, UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Effect, effects } from "../protocol/decision.ts";

/** A change of subscriptions: the users, the channels, and the resulting state. */
export interface MembershipDelta {
  readonly userIds: ReadonlySet<number>;
  readonly channelIds: ReadonlySet<number>;
  readonly isInAfter: (userId: UserId, channelId: ChannelId) => boolean;
}

/** Returns nothing if all users are visible to everybody, which is cheap to check. */
export function visibilityEvents(view: View, delta: MembershipDelta): Effect[] {
  if (!isRestricted(view)) return [];
  let pairsLeft: number = limits.visibility_pairs_max;
  return [...affectedPairs(view, delta)].flatMap(([guest, candidates]) => {
    pairsLeft -= candidates.size;
    return pairsLeft < 0 ? endQueues(view, guest.id) : guestEffects(view, delta, guest, candidates);
  });
}

function isRestricted(view: View): boolean {
  return realmGroupId(view, "can_access_all_users_group") !== view.groups.system("role:everyone")?.id;
}

/** The guests affected by the change, with the users who may become visible or invisible to them. */
function affectedPairs(view: View, delta: MembershipDelta): Map<UserRecord, Set<number>> {
  const found = new Map<UserRecord, Set<number>>();
  for (const channelId of delta.channelIds) {
    const members = new Set([...view.subscriptions.ofChannel(channelId), ...delta.userIds]);
    for (const id of members) {
      const guest = restrictedGuest(view, id);
      if (guest === null) continue;
      const known = found.get(guest) ?? new Set();
      for (const other of delta.userIds.has(id) ? members : delta.userIds) known.add(other);
      found.set(guest, known);
    }
  }
  return found;
}

function restrictedGuest(view: View, id: number): UserRecord | null {
  const user = view.users.get(id);
  if (user === undefined || !user.isActive || !isGuest(user)) return null;
  return canAccessAllUsers(view, user) ? null : user;
}

function guestEffects(
  view: View,
  delta: MembershipDelta,
  guest: UserRecord,
  candidates: ReadonlySet<number>,
): Effect[] {
  const appeared: number[] = [];
  const vanished: number[] = [];
  for (const id of candidates) {
    const user = view.users.get(id);
    if (user === undefined || id === guest.id || user.botType !== null) continue;
    const isKnownAfter = sharesAfter(view, delta, guest.id, id) || sharesConversation(view, guest.id, id);
    if (isKnownAfter === canAccessUser(view, guest, user)) continue;
    (isKnownAfter ? appeared : vanished).push(id);
  }
  if (appeared.length + vanished.length > limits.visibility_events_max) return endQueues(view, guest.id);
  return [...appearance(guest.id, appeared), ...visibilityEvent("vanish", guest.id, vanished)];
}

function sharesAfter(view: View, delta: MembershipDelta, guestId: number, otherId: number): boolean {
  const isIn = (userId: UserId, channelId: ChannelId) =>
    delta.userIds.has(userId) && delta.channelIds.has(channelId)
      ? delta.isInAfter(userId, channelId)
      : view.subscriptions.isSubscribed(userId, channelId);
  const own = [...view.subscriptions.ofUser(guestId)].map(({ channelId }) => channelId);
  return [...delta.channelIds, ...own].some((id) => isIn(guestId, id) && isIn(otherId, id));
}

function visibilityEvent(op: "appear" | "vanish", guestId: number, ids: readonly number[]): Effect[] {
  if (ids.length === 0) return [];
  const body = { op, user_ids: [...ids].sort((a, b) => a - b) };
  return [effects.emit("realm_user", body, { to: "users", ids: [guestId] }, ids.length)];
}

/**
 * Also sends the users' statuses, because no later event contains a status that was set before. Both events are built
 * on delivery.
 */
function appearance(guestId: number, ids: readonly number[]): Effect[] {
  if (ids.length === 0) return [];
  const statuses = effects.emit("user_status", { user_ids: ids }, { to: "users", ids: [guestId] }, ids.length);
  return [...visibilityEvent("appear", guestId, ids), statuses];
}

/** The first message of a direct conversation makes its participants visible to the guests among them. */
export function conversationVisibility(view: View, userIds: readonly UserId[]): Effect[] {
  if (!isRestricted(view)) return [];
  return userIds.flatMap((id) => {
    const guest = restrictedGuest(view, id);
    if (guest === null) return [];
    const hiddenIds = userIds.filter((other) => {
      const user = view.users.get(other);
      return user !== undefined && !canAccessUser(view, guest, user);
    });
    return appearance(guest.id, hiddenIds);
  });
}

/**
 * Events when the organization opens or restricts guests' access to users. Each guest with an event queue receives the
 * users who become visible or invisible.
 * @param after the view after the change (`withOverrides`)
 */
export function accessEffects(view: View, after: View): Effect[] {
  let pairsLeft: number = limits.visibility_pairs_max;
  return [...view.users.all()].flatMap((guest) => {
    if (!guest.isActive || !isGuest(guest) || view.queuesOf(guest.id).size === 0) return [];
    pairsLeft -= view.users.size;
    return pairsLeft < 0 ? endQueues(view, guest.id) : accessOf(view, after, guest);
  });
}

function accessOf(view: View, after: View, guest: UserRecord): Effect[] {
  const [before, next] = [visibleUsers(view, guest), visibleUsers(after, guest)];
  const people = [...view.users.all()].filter((user) => user.botType === null);
  const appeared = people.filter(({ id }) => before?.has(id) === false && next?.has(id) !== false);
  const vanished = people.filter(({ id }) => before?.has(id) !== false && next?.has(id) === false);
  if (appeared.length + vanished.length > limits.visibility_events_max) return endQueues(view, guest.id);
  const ids = (users: readonly UserRecord[]) => users.map(({ id }) => id);
  return [
    ...appearance(guest.id, ids(appeared)),
    ...appeared.filter(({ isActive }) => !isActive).map((user) => gone(guest, user)),
    ...visibilityEvent("vanish", guest.id, ids(vanished)),
  ];
}

/** Clients assume that a newly visible user is active. */
function gone(guest: UserRecord, user: UserRecord): Effect {
  const body = { op: "update" as const, person: { user_id: user.id, is_active: false } };
  return effects.emit("realm_user", body, { to: "users", ids: [guest.id] });
}

/**
 * Events when the last message of a direct conversation was deleted: guests among its participants may no longer see
 * the others.
 */
export function endedConversationVisibility(
  view: View,
  userIds: readonly UserId[],
  conversationId: ConversationId,
): Effect[] {
  if (!isRestricted(view)) return [];
  return userIds.flatMap((id) => {
    const guest = restrictedGuest(view, id);
    if (guest === null) return [];
    const lost = userIds.filter((other) => {
      const user = view.users.get(other);
      return user !== undefined && !canAccessUserWithout(view, guest, user, conversationId);
    });
    return visibilityEvent("vanish", guest.id, lost);
  });
}

/** Closes all queues of a user; the clients receive an error and register again. */
export function endQueues(view: View, userId: UserId): Effect[] {
  return [...view.queuesOf(userId)].map((id) => effects.remove("queues", id));
}
