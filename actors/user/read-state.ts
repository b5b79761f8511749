/**
 * Marking as read (spec 4.16; behaviour 2.16, 8): one row per channel or topic, regardless of the number of messages.
 * If many messages are affected, their events and the removal of redundant rows follow in slices.
 */

import { hasContentAccess } from "../../domain/permissions.ts";
import { ReadState } from "../../domain/read-state.ts";
import { collectUnread } from "../../domain/unread.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import type { ChannelId, ConversationId, UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { ReadScope, ReadWatermarkRecord } from "../../schemas/read-state.ts";
import type { UserRecord } from "../../schemas/users.ts";
import {
  addressAs,
  type Command,
  command,
  done,
  type Effect,
  effects,
  forServer,
  forUser,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";
import { announceLater } from "../rules/read-announcements.ts";
import { redundantExceptions, unreadUpToLimit, watermarksOf } from "../rules/read-marks.ts";
import { newestIn } from "../rules/read-places.ts";
import { flagEvents, nextMark, noteMarks, putWatermark, takeMark } from "../rules/read-rows.ts";
import { advancedWatermark } from "../rules/read-watermarks.ts";

export function markTopicRead(caller: UserRecord, params: Params<"read-state.mark-topic">, view: View): Outcome {
  const { channelId, topic, mustHaveReceived } = params;
  const channel = channelOf(view, caller, params.channelId);
  if (isRefusal(channel)) return channel;
  const named = view.row("topicNames", [channelId, fold(topic)]);
  if (mustHaveReceived && (named === undefined || !hasReceivedAny(view, caller.id, channelId, named.id))) {
    return refuse.badRequest(`No such topic '${topic}'`);
  }
  return done({}, named === undefined ? [] : markPlace(view, caller.id, { channelId, conversationId: named.id }));
}

export function markChannelRead(caller: UserRecord, params: Params<"read-state.mark-channel">, view: View): Outcome {
  const channel = channelOf(view, caller, params.channelId);
  if (isRefusal(channel)) return channel;
  return done({}, markPlace(view, caller.id, { channelId: channel.id, conversationId: null }));
}

/** Archived channels can be marked, too (D280): their messages are still read. */
function channelOf(view: View, caller: UserRecord, channelId: ChannelId): ChannelRecord | Refusal {
  const channel = view.channels.get(channelId);
  const isReadable = channel !== undefined && hasContentAccess(view, caller, channel);
  return isReadable ? channel : refuse.invalidChannelId();
}

/** Behaviour 12.18: messages sent while the user was not subscribed do not count. */
function hasReceivedAny(view: View, userId: UserId, channelId: ChannelId, conversationId: ConversationId): boolean {
  const periods = view.subscriptions.get(userId, channelId)?.periods ?? [];
  return periods.some(({ joinedAfterId, leftAtId }) => {
    const start = [conversationId, joinedAfterId + 1];
    const end = [conversationId, (leftAtId ?? Number.MAX_SAFE_INTEGER - 1) + 1];
    return view.keys("conversationMessages", { start, end, limit: 1 }).length > 0;
  });
}

function markPlace(view: View, userId: UserId, place: ReadScope): Effect[] {
  const state = new ReadState(view, userId);
  // A user who is not subscribed has no unread messages there.
  if (!state.holdsUnread({ id: place.conversationId ?? 0, channelId: place.channelId, userIds: null })) return [];
  const kind = place.conversationId === null ? "channel" : "conversation";
  const id = place.conversationId ?? place.channelId;
  const upTo = newestIn(view, place);
  const start = state.watermarkOf(place);
  const found = unreadUpToLimit(view, userId, state, place, start);
  if (found !== null && found.length === 0) return [];
  const watermark: ReadWatermarkRecord = { upTo, at: nextMark(view) };
  const marked = [takeMark(view), putWatermark(kind, id, userId, watermark)];
  if (found === null) {
    const before = watermarksOf(state, place);
    const announcement = { place, before, at: nextMark(view), from: 0, start, upTo };
    return [...marked, ...noteMarks(view, userId, { newest: upTo }), ...announceLater(view, userId, announcement)];
  }
  const overlaid = new ReadState(view, userId, { watermarks: [{ place: { kind, id }, watermark }] });
  const advanced = kind === "channel" ? null : advancedWatermark(view, place.channelId, overlaid);
  return [
    ...marked,
    ...(advanced === null ? [] : [putWatermark("channel", place.channelId, userId, advanced.watermark)]),
    ...noteMarks(view, userId, { newest: Math.max(upTo, advanced?.watermark.upTo ?? 0) }),
    ...redundantExceptions(state, userId, found),
    ...flagEvents(userId, "add", "read", found),
  ];
}

/** POST /mark_all_as_read: one row, and one event without message ids. */
export function markAllRead(
  caller: UserRecord,
  _params: unknown,
  view: View,
  request: Command<"read-state.mark-all">,
): Outcome {
  const upTo = view.counter("message");
  const hasExceptions = view.keys("readExceptions", { start: [caller.id], end: [caller.id + 1], limit: 1 }).length > 0;
  const answer = { complete: true };
  if (!hasExceptions && new ReadState(view, caller.id).marks.upTo === upTo) return done(answer, []);
  const body = { op: "add", operation: "add", flag: "read", messages: [], all: true } as const;
  const sweep = command(request.to, "read-state.sweep", { from: 0, upTo, at: nextMark(view) }, null);
  return done(answer, [
    takeMark(view),
    ...noteMarks(view, caller.id, { newest: upTo, upTo, at: nextMark(view) }),
    effects.emit("update_message_flags", body, { to: "users", ids: [caller.id] }),
    ...(hasExceptions ? [effects.schedule(view.now, sweep)] : []),
  ]);
}

/** Removes exceptions that marking everything as read has made redundant. */
export function sweepExceptions(
  params: Params<"read-state.sweep">,
  view: View,
  request: Command<"read-state.sweep">,
): Outcome {
  const { from, upTo, at } = params;
  const userId = addressAs(request.to, "user").id;
  const limit = limits.read_rows_per_command_max;
  const rows = view.rows("readExceptions", { start: [userId, from], end: [userId, upTo + 1], limit });
  const redundant = rows.filter(({ row }) => row.isRead || row.at < at);
  const onward = { ...params, from: (rows.at(-1)?.key[1] ?? upTo) + 1 };
  return done({}, [
    ...redundant.map(({ key }) => effects.remove("readExceptions", key)),
    ...(rows.length < limit ? [] : [effects.send(command(request.to, "read-state.sweep", onward, null))]),
  ]);
}

/**
 * Messages from a muted user are read, existing and future ones (behaviour 5.1). Announced at once, because a later
 * mark in the same turn or an unsubscription would hide what is unread now.
 */
export function muteSender(view: View, userId: UserId, senderId: UserId): Effect[] {
  const ids = collectUnread(view, userId).messages.flatMap((message) =>
    message.senderId === senderId ? message.id : [],
  );
  const chunks = Math.ceil(ids.length / limits.event_ids_per_piece_max);
  const announcements = Array.from({ length: chunks }, (_, index) => {
    const first = index * limits.event_ids_per_piece_max;
    return flagEvents(userId, "add", "read", ids.slice(first, first + limits.event_ids_per_piece_max));
  });
  return [
    takeMark(view),
    putWatermark("sender", senderId, userId, { upTo: Number.MAX_SAFE_INTEGER, at: nextMark(view) }),
    ...noteMarks(view, userId, { newest: 0, hasSenderWatermarks: true }),
    ...announcements.flat(),
  ];
}

/** Messages sent while the user was muted stay read. */
export function unmuteSender(view: View, userId: UserId, senderId: UserId): Effect[] {
  const watermark = new ReadState(view, userId).watermark({ kind: "sender", id: senderId });
  if (watermark === null) return [];
  const upTo = view.counter("message");
  return [
    putWatermark("sender", senderId, userId, { upTo, at: watermark.at }),
    ...noteMarks(view, userId, { newest: upTo }),
  ];
}

export const readStateDecisions = {
  "read-state.mark-all": forUser(markAllRead),
  "read-state.mark-channel": forUser(markChannelRead),
  "read-state.mark-topic": forUser(markTopicRead),
  "read-state.sweep": forServer(sweepExceptions),
} as const;
