/** Who gets an event (realtime.md): live from who is there now, at replay from who was there then and may still (E2, S1). */
import type { EventRecord, UserRecord } from "../../schemas/records.ts";
import { hasMetadataAccess, hasReceived, isGuest } from "../domain/permissions.ts";
import type { View } from "../domain/view.ts";
import type { LiveQueue } from "./queue.ts";

/** Whether a queue's owner was in the audience when the event happened. */
export function wasAddressed(view: View, record: EventRecord, user: UserRecord, queue: LiveQueue): boolean {
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
        holdsCopy(view, record, user.id)
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

/** Events of what becomes of messages: they concern whoever received one, also when they have left since (behaviour 7). */
export const changeTypes: ReadonlySet<string> = new Set(["delete_message", "update_message", "reaction", "submessage"]);

/**
 * Whether a person has left a public channel with one of the messages that are deleted or changed now: a copy that must follow
 * (behaviour 7). In private channels what one could read ends with the subscription.
 */
export function holdsCopy(view: View, record: EventRecord, userId: number): boolean {
  const { audience, body } = record;
  if (!changeTypes.has(record.type) || audience.to !== "channel" || body["is_arrival"] === true) return false;
  if (view.channels.get(audience.id)?.isPrivate !== false) return false;
  const stays = view.subscriptions.get(userId, audience.id)?.stays ?? [];
  const ids = (body["message_ids"] ?? [body["message_id"]]) as readonly number[];
  return ids.some((id) => hasReceived(stays, id));
}

/**
 * From which position on somebody has known a channel without a break, by whatever right, where that began while they listened:
 * every way to come to know of one writes it down (actors/realm/channel-sight.ts). By whose right they knew it in between may have
 * changed since, and is not asked.
 */
function knownSince(view: View, userId: number, channelId: number): number {
  return view.row("channelSights", [channelId, userId])?.sincePosition ?? 0;
}

/** Stays are half-open in positions (records.ts, Stay). */
export function wasSubscribedAt(view: View, userId: number, channelId: number, position: number): boolean {
  const stays = view.subscriptions.get(userId, channelId)?.stays ?? [];
  return stays.some(
    (stay) => stay.joinedAtPosition <= position && (stay.leftAtPosition === null || position < stay.leftAtPosition),
  );
}

/** A queue with all_public_streams gets what is written in any public channel. */
export function sharesPublic(view: View, channelId: number, user: UserRecord, queue: LiveQueue): boolean {
  const channel = view.channels.get(channelId);
  return queue.options.allPublicStreams && channel?.isPrivate === false && !isGuest(user);
}
