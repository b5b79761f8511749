/**
 * Effects of a role change (behaviour 2.8). Everybody receives the new role, system groups change members, and the user
 * receives the channels, subscribers, addresses and bots that became visible or invisible, so that no client keeps data
 * that the user may no longer see (S1). If these are too many events, the user's queues are closed.
 */

import { deliveryEmail, visibilityOf } from "../../domain/people.ts";
import { canAccessAllUsers, hasMetadataAccess, isAdministrator, isGuest } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Effect, effects } from "../protocol/decision.ts";
import { visibleDefaults } from "../rules/bot-events.ts";
import { endQueues } from "../rules/user-visibility.ts";
import { appearingEffects } from "./channel-visibility.ts";
import { roleGroupEvents } from "./user-groups.ts";

export function roleEffects(view: View, before: UserRecord, after: UserRecord): Effect[] {
  return [
    effects.emit("realm_user", { op: "update", person: { user_id: after.id, role: after.role } }, { to: "realm" }),
    ...roleGroupEvents(view, before, after),
    ...(personalEvents(view, before, after) ?? endQueues(view, after.id)),
  ];
}

/** null: too many events. */
function personalEvents(view: View, before: UserRecord, after: UserRecord): Effect[] | null {
  // A restricted guest sees only a few users. The difference to all users is too large for events.
  if (canAccessAllUsers(view, before) !== canAccessAllUsers(view, after)) return null;
  const channels = channelEvents(view, before, after);
  const addresses = addressVisibilityEvents(view, before, after);
  const bots = botEvents(view, before, after);
  if (channels === null || addresses === null || bots === null) return null;
  const defaults =
    isGuest(before) === isGuest(after) ? [] : [effects.emit("default_streams", {}, { to: "users", ids: [after.id] })];
  return [...channels, ...defaults, ...addresses, ...bots];
}

/** Other users' bots, which only administrators see with their services (S1). */
function botEvents(view: View, before: UserRecord, after: UserRecord): Effect[] | null {
  if (isAdministrator(before) === isAdministrator(after)) return [];
  const own = view.bots.ofOwner(after.id);
  const ids = [...view.bots.all()].filter((id) => !own.has(id)).sort((a, b) => a - b);
  if (ids.length > limits.visibility_events_max) return null;
  const op = isAdministrator(after) ? "add" : "delete";
  return ids.map((id) => effects.emit("realm_bot", { op, user_id: id }, { to: "users", ids: [after.id] }));
}

function channelEvents(view: View, before: UserRecord, after: UserRecord): Effect[] | null {
  const sees = (user: UserRecord) => (channel: ChannelRecord) => hasMetadataAccess(view, user, channel);
  const all = [...view.channels.all()];
  const gained = all.filter(sees(after)).filter((channel) => !sees(before)(channel));
  const lost = all.filter(sees(before)).filter((channel) => !sees(after)(channel));
  const peers = gained.reduce((sum, { id }) => sum + view.subscriptions.ofChannel(id).size, 0);
  if (peers > limits.subscribers_per_request_max || gained.length > limits.visibility_events_max) return null;
  const audience = { to: "users", ids: [after.id] } as const;
  const lostIds = lost.map(({ id }) => id);
  const gone = { op: "delete" as const, streams: lostIds.map((id) => ({ stream_id: id })), stream_ids: lostIds };
  return [
    ...(lost.length === 0 ? [] : [effects.emit("stream", gone, audience)]),
    ...gained.flatMap((channel) => appearingEffects(view, channel, [after.id])),
    ...visibleDefaults(view, lostIds, [after.id]),
  ];
}

/** Real email addresses that became visible or invisible with the role change. */
function addressVisibilityEvents(view: View, before: UserRecord, after: UserRecord): Effect[] | null {
  if (visibilityOf(before) === visibilityOf(after)) return [];
  const ids = [...view.users.all()]
    .filter((user) => deliveryEmail(user, before) !== deliveryEmail(user, after))
    .map((user) => user.id)
    .sort((a, b) => a - b);
  if (ids.length === 0) return [];
  if (ids.length > limits.visibility_events_max) return null;
  return [effects.emit("realm_user", { op: "addresses", user_ids: ids }, { to: "users", ids: [after.id] }, ids.length)];
}
