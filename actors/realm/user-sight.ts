/**
 * Who begins and ceases to know of whom where `can_access_all_users_group` restricts guests (public API, realm_user add and
 * remove): a guest knows whoever shares a channel or a direct conversation. Each guest concerned is told one by one; where
 * that would be too much, their queues end and they register again (E2: said, never guessed).
 */
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/records.ts";
import { canAccessUser, canAccessUserWithout, knownPeople, sharesConversation } from "../../src/domain/people.ts";
import { canAccessAllUsers, isGuest, realmGroupId } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import { type Effect, effects } from "../effects.ts";

/** Subscriptions that change: of these people in these channels, and how they stand afterwards. */
export interface Shift {
  readonly userIds: ReadonlySet<number>;
  readonly channelIds: ReadonlySet<number>;
  readonly isInAfter: (userId: number, channelId: number) => boolean;
}

/** Nothing while everybody may know everybody, which costs one look. */
export function sightEffects(view: View, shift: Shift): Effect[] {
  if (!isRestricted(view)) return [];
  let pairsLeft: number = limits.sight_pairs_max;
  return [...meetings(view, shift)].flatMap(([guest, candidates]) => {
    pairsLeft -= candidates.size;
    return pairsLeft < 0 ? endQueues(view, guest.id) : guestEffects(view, shift, guest, candidates);
  });
}

function isRestricted(view: View): boolean {
  return realmGroupId(view, "can_access_all_users_group") !== view.groups.system("role:everyone")?.id;
}

/** Guests whom the shift concerns, with everybody whom they may come to know or lose by it. */
function meetings(view: View, shift: Shift): Map<UserRecord, Set<number>> {
  const found = new Map<UserRecord, Set<number>>();
  for (const channelId of shift.channelIds) {
    const members = new Set([...view.subscriptions.ofChannel(channelId), ...shift.userIds]);
    for (const id of members) {
      const guest = restrictedGuest(view, id);
      if (guest === null) continue;
      const known = found.get(guest) ?? new Set();
      for (const other of shift.userIds.has(id) ? members : shift.userIds) known.add(other);
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

function guestEffects(view: View, shift: Shift, guest: UserRecord, candidates: ReadonlySet<number>): Effect[] {
  const appeared: number[] = [];
  const vanished: number[] = [];
  for (const id of candidates) {
    const user = view.users.get(id);
    if (user === undefined || id === guest.id || user.botType !== null) continue;
    const isKnownAfter = sharesAfter(view, shift, guest.id, id) || sharesConversation(view, guest.id, id);
    if (isKnownAfter === canAccessUser(view, guest, user)) continue;
    (isKnownAfter ? appeared : vanished).push(id);
  }
  if (appeared.length + vanished.length > limits.sight_events_max) return endQueues(view, guest.id);
  return [...appearance(guest.id, appeared), ...sightEvent("vanish", guest.id, vanished)];
}

function sharesAfter(view: View, shift: Shift, guestId: number, otherId: number): boolean {
  const isIn = (userId: number, channelId: number) =>
    shift.userIds.has(userId) && shift.channelIds.has(channelId)
      ? shift.isInAfter(userId, channelId)
      : view.subscriptions.isSubscribed(userId, channelId);
  const own = [...view.subscriptions.ofUser(guestId)].map(({ channelId }) => channelId);
  return [...shift.channelIds, ...own].some((id) => isIn(guestId, id) && isIn(otherId, id));
}

function sightEvent(op: "appear" | "vanish", guestId: number, ids: readonly number[]): Effect[] {
  if (ids.length === 0) return [];
  const body = { op, user_ids: [...ids].sort((a, b) => a - b) };
  return [effects.emit("realm_user", body, { to: "users", ids: [guestId] }, ids.length)];
}

/** Their statuses follow: what was set before, no later event tells. Both are built when they are delivered. */
function appearance(guestId: number, ids: readonly number[]): Effect[] {
  if (ids.length === 0) return [];
  const statuses = effects.emit("user_status", { user_ids: ids }, { to: "users", ids: [guestId] }, ids.length);
  return [...sightEvent("appear", guestId, ids), statuses];
}

/** The first message of a direct conversation makes its participants known to the guests among them. */
export function conversationSight(view: View, userIds: readonly number[]): Effect[] {
  if (!isRestricted(view)) return [];
  return userIds.flatMap((id) => {
    const guest = restrictedGuest(view, id);
    if (guest === null) return [];
    const strangers = userIds.filter((other) => {
      const user = view.users.get(other);
      return user !== undefined && !canAccessUser(view, guest, user);
    });
    return appearance(guest.id, strangers);
  });
}

/**
 * The organization opens or closes its people to guests: those who follow events learn of everybody, or are left with whom they
 * know. @param after how it will be (`supposing`)
 */
export function accessEffects(view: View, after: View): Effect[] {
  let pairsLeft: number = limits.sight_pairs_max;
  return [...view.users.all()].flatMap((guest) => {
    if (!guest.isActive || !isGuest(guest) || view.queuesOf(guest.id).size === 0) return [];
    pairsLeft -= view.users.size;
    return pairsLeft < 0 ? endQueues(view, guest.id) : accessOf(view, after, guest);
  });
}

function accessOf(view: View, after: View, guest: UserRecord): Effect[] {
  const [before, next] = [knownPeople(view, guest), knownPeople(after, guest)];
  const people = [...view.users.all()].filter((user) => user.botType === null);
  const appeared = people.filter(({ id }) => before?.has(id) === false && next?.has(id) !== false);
  const vanished = people.filter(({ id }) => before?.has(id) !== false && next?.has(id) === false);
  if (appeared.length + vanished.length > limits.sight_events_max) return endQueues(view, guest.id);
  const ids = (users: readonly UserRecord[]) => users.map(({ id }) => id);
  return [
    ...appearance(guest.id, ids(appeared)),
    ...appeared.filter(({ isActive }) => !isActive).map((user) => gone(guest, user)),
    ...sightEvent("vanish", guest.id, ids(vanished)),
  ];
}

/** Clients take whoever appears for active. */
function gone(guest: UserRecord, user: UserRecord): Effect {
  const body = { op: "update", person: { user_id: user.id, is_active: false } };
  return effects.emit("realm_user", body, { to: "users", ids: [guest.id] });
}

/** The last message of a direct conversation is gone: the guests among its participants may lose sight of the others. */
export function endedConversationSight(view: View, userIds: readonly number[], conversationId: number): Effect[] {
  if (!isRestricted(view)) return [];
  return userIds.flatMap((id) => {
    const guest = restrictedGuest(view, id);
    if (guest === null) return [];
    const lost = userIds.filter((other) => {
      const user = view.users.get(other);
      return user !== undefined && !canAccessUserWithout(view, guest, user, conversationId);
    });
    return sightEvent("vanish", guest.id, lost);
  });
}

/** Their clients learn that their queues are gone and register again. */
export function endQueues(view: View, userId: number): Effect[] {
  return [...view.queuesOf(userId)].map((id) => effects.remove("queues", id));
}
