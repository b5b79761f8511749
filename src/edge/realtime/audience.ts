/**
 * Decides who gets an event (docs/realtime.md): live, the users who are addressed now; at replay, those who were
 * addressed then and may still see it (E2, S1).
 */

import { hasMetadataAccess, hasReceived, isGuest } from "../../../domain/permissions.ts";
import type { View } from "../../../domain/view.ts";
import type { EventType } from "../../../schemas/events.ts";
import type { EventRecord } from "../../../schemas/runtime.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { RecipientQueue } from "./recipient-queue.ts";

/** Whether a queue's owner was in the audience when the event happened. */
export function wasAddressed(view: View, record: EventRecord, user: UserRecord, queue: RecipientQueue): boolean {
  const { audience } = record;
  switch (audience.to) {
    case "realm":
      return true;
    case "users":
      return audience.ids.includes(user.id);
    case "channel":
      return (
        audience.also.includes(user.id) ||
        wasSubscribedAt(view, user.id, audience.id, record.position) ||
        (sharesPublic(view, audience.id, user, queue) && record.position >= knownSince(view, user.id, audience.id)) ||
        receivesCopy(view, record, user.id)
      );
    case "channel-watchers": {
      const channel = view.channels.get(audience.id);
      if (channel === undefined || audience.except.includes(user.id)) return false;
      if (!hasMetadataAccess(view, user, channel)) return false;
      return (
        record.position >= knownSince(view, user.id, channel.id) ||
        wasSubscribedAt(view, user.id, channel.id, record.position)
      );
    }
    default:
      return audience satisfies never;
  }
}

/**
 * Events about changes to messages. They also concern users who received a message and have left since (behaviour 7).
 */
export const changeTypes: ReadonlySet<EventType> = new Set([
  "delete_message",
  "update_message",
  "reaction",
  "submessage",
]);

/** The messages that an event changes; null for events of other types. */
function changedIds(record: EventRecord): readonly number[] | null {
  switch (record.type) {
    case "delete_message":
      return record.body.message_ids;
    case "update_message":
      return record.body.is_arrival === true ? null : record.body.message_ids;
    case "reaction":
    case "submessage":
      return [record.body.message_id];
    default:
      return null;
  }
}

/**
 * Whether a user has left a public channel with a copy of one of the messages that are deleted or changed now; clients
 * must update the copy (behaviour 7). In private channels access to the history ends with the subscription.
 */
export function receivesCopy(view: View, record: EventRecord, userId: number): boolean {
  const { audience } = record;
  const ids = changedIds(record);
  if (ids === null || audience.to !== "channel") return false;
  if (view.channels.get(audience.id)?.isPrivate !== false) return false;
  const periods = view.subscriptions.get(userId, audience.id)?.periods ?? [];
  return ids.some((id) => hasReceived(periods, id));
}

/**
 * Position since which a user who was listening has known the channel without a break, by any permission. Every way to
 * gain access writes it (actors/realm/channel-visibility.ts). Permissions in between may have changed since and are not
 * checked.
 */
function knownSince(view: View, userId: number, channelId: number): number {
  return view.row("channelVisibility", [channelId, userId])?.sincePosition ?? 0;
}

/** Stays are half-open intervals of positions (records.ts, Stay). */
export function wasSubscribedAt(view: View, userId: number, channelId: number, position: number): boolean {
  const periods = view.subscriptions.get(userId, channelId)?.periods ?? [];
  return periods.some(
    (period) =>
      period.joinedAtPosition <= position && (period.leftAtPosition === null || position < period.leftAtPosition),
  );
}

/** A queue with all_public_streams gets messages of every public channel. */
export function sharesPublic(view: View, channelId: number, user: UserRecord, queue: RecipientQueue): boolean {
  const channel = view.channels.get(channelId);
  return queue.options.allPublicStreams && channel?.isPrivate === false && !isGuest(user);
}
