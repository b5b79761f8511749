/**
 * What a change of role comes to (behaviour 2.8): everybody is told, system groups change members, and the person is told of
 * the channels, subscribers, addresses and bots that came into or went out of their sight, so that nothing of what they may not
 * see any more stays with a client that follows events (S1). Where that is too much to tell, their queues end.
 */
import { limits } from "../../schemas/limits.ts";
import type { ChannelRecord, UserRecord } from "../../schemas/records.ts";
import { deliveryEmail, sightOf } from "../../src/domain/people.ts";
import { canAccessAllUsers, hasMetadataAccess, isAdministrator, isGuest } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import { type Effect, effects } from "../effects.ts";
import { defaultsInSight } from "./bot-events.ts";
import { appearingEffects } from "./channel-sight.ts";
import { roleGroupEvents } from "./user-groups.ts";
import { endQueues } from "./user-sight.ts";

export function roleEffects(view: View, before: UserRecord, after: UserRecord): Effect[] {
  return [
    effects.emit("realm_user", { op: "update", person: { user_id: after.id, role: after.role } }, { to: "realm" }),
    ...roleGroupEvents(view, before, after),
    ...(personalEvents(view, before, after) ?? endQueues(view, after.id)),
  ];
}

/** null: too much to tell. */
function personalEvents(view: View, before: UserRecord, after: UserRecord): Effect[] | null {
  // Whom a restricted guest knows and everybody knows differ by nearly everybody.
  if (canAccessAllUsers(view, before) !== canAccessAllUsers(view, after)) return null;
  const channels = channelEvents(view, before, after);
  const addresses = addressSightEvents(view, before, after);
  const bots = botEvents(view, before, after);
  if (channels === null || addresses === null || bots === null) return null;
  const defaults =
    isGuest(before) === isGuest(after) ? [] : [effects.emit("default_streams", {}, { to: "users", ids: [after.id] })];
  return [...channels, ...defaults, ...addresses, ...bots];
}

/** Other people's bots, which administrators alone see with their services (S1). */
function botEvents(view: View, before: UserRecord, after: UserRecord): Effect[] | null {
  if (isAdministrator(before) === isAdministrator(after)) return [];
  const own = view.bots.ofOwner(after.id);
  const ids = [...view.bots.all()].filter((id) => !own.has(id)).sort((a, b) => a - b);
  if (ids.length > limits.sight_events_max) return null;
  const op = isAdministrator(after) ? "add" : "delete";
  return ids.map((id) => effects.emit("realm_bot", { op, user_id: id }, { to: "users", ids: [after.id] }));
}

function channelEvents(view: View, before: UserRecord, after: UserRecord): Effect[] | null {
  const sees = (user: UserRecord) => (channel: ChannelRecord) => hasMetadataAccess(view, user, channel);
  const all = [...view.channels.all()];
  const gained = all.filter(sees(after)).filter((channel) => !sees(before)(channel));
  const lost = all.filter(sees(before)).filter((channel) => !sees(after)(channel));
  const peers = gained.reduce((sum, { id }) => sum + view.subscriptions.ofChannel(id).size, 0);
  if (peers > limits.subscribers_per_request_max || gained.length > limits.sight_events_max) return null;
  const audience = { to: "users", ids: [after.id] } as const;
  const lostIds = lost.map(({ id }) => id);
  const gone = { op: "delete", streams: lostIds.map((id) => ({ stream_id: id })), stream_ids: lostIds };
  return [
    ...(lost.length === 0 ? [] : [effects.emit("stream", gone, audience)]),
    ...gained.flatMap((channel) => appearingEffects(view, channel, [after.id])),
    ...defaultsInSight(view, lostIds, [after.id]),
  ];
}

/** Real addresses that the new role sees and the old one did not, or the other way round. */
function addressSightEvents(view: View, before: UserRecord, after: UserRecord): Effect[] | null {
  if (sightOf(before) === sightOf(after)) return [];
  const ids = [...view.users.all()]
    .filter((user) => deliveryEmail(user, before) !== deliveryEmail(user, after))
    .map((user) => user.id)
    .sort((a, b) => a - b);
  if (ids.length === 0) return [];
  if (ids.length > limits.sight_events_max) return null;
  return [effects.emit("realm_user", { op: "addresses", user_ids: ids }, { to: "users", ids: [after.id] }, ids.length)];
}
