/**
 * Starts the announcement of messages that a mark or an unsubscription made read; user/read-announcements.ts contains
 * its slices. While an announcement for a channel is pending, a row records it, and messages that move away are
 * recorded as departures.
 */

import type { View } from "../../domain/view.ts";
import type { ChannelId, UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { ReadAnnouncement } from "../../schemas/read-state.ts";
import type { RowOf } from "../../schemas/records.ts";
import { type Command, command, type Effect, effects } from "../protocol/decision.ts";
import { nextMark, takeMark } from "./read-rows.ts";

/** Starts in a later turn. */
export function announceLater(view: View, userId: UserId, announcement: ReadAnnouncement, afterMs = 0): Effect[] {
  return [begun(view, userId, announcement), effects.schedule(view.now + afterMs, announcing(userId, announcement))];
}

/** Starts in the same turn if its budget permits. */
export function announceNow(view: View, userId: UserId, announcement: ReadAnnouncement): Effect[] {
  return [begun(view, userId, announcement), effects.send(announcing(userId, announcement))];
}

export function announcing(userId: UserId, announcement: ReadAnnouncement): Command {
  return command({ actor: "user", id: userId }, "read-state.announce", announcement, null);
}

/** The start time is kept from slice to slice. */
export function begun(view: View, userId: UserId, announcement: ReadAnnouncement): Effect {
  const key = announcementKey(userId, announcement);
  return effects.put("readAnnouncements", key, view.row("readAnnouncements", key) ?? { startedAt: view.now });
}

export function announcementKey(userId: UserId, { place, at }: ReadAnnouncement) {
  return [place.channelId, userId, at] as const;
}

/**
 * Whether messages of the channel that a mark made read are still to be announced to the user. Each slice looks at what
 * was read before the mark, so no conversation's watermark may be raised over these messages meanwhile. The channel's
 * may: the announcement has its former one.
 */
export function isToBeAnnounced(view: View, userId: UserId, channelId: ChannelId): boolean {
  const limit = limits.read_announcements_examined_max;
  const range = { start: [channelId, userId], end: [channelId, userId + 1], limit };
  return view.rows("readAnnouncements", range).some(({ row }) => !isGivenUp(view, row));
}

/** Records messages that leave a conversation if an announcement about it is still pending. */
export function noteDepartures(
  view: View,
  from: { readonly id: number; readonly channelId: ChannelId },
  messages: readonly { readonly id: number; readonly senderId: UserId; readonly traits: number }[],
): Effect[] {
  const limit = limits.read_announcements_examined_max;
  const range = { start: [from.channelId], end: [from.channelId + 1], limit };
  const announcements = view.rows("readAnnouncements", range);
  const late = announcements.filter(({ row }) => isGivenUp(view, row));
  const givenUp = late.map(({ key }) => effects.remove("readAnnouncements", key));
  if (givenUp.length === announcements.length) return givenUp;
  const mark = nextMark(view);
  const departures = messages.map(({ id, senderId, traits }) =>
    effects.put("readDepartures", [from.channelId, id, mark], { conversationId: from.id, senderId, traits }),
  );
  return [...givenUp, takeMark(view), ...departures];
}

export function isGivenUp(view: View, { startedAt }: RowOf<"readAnnouncements">): boolean {
  return startedAt + limits.read_announcement_ms_max < view.now;
}
