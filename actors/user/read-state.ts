/**
 * Marking as read (spec 4.16; behaviour 2.16, 8): one row for a place, however much is in it. What is told of it, message by
 * message, and the rows that are not needed any more, follow apart, slice after slice, where they are many.
 */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import type { ChannelRecord, ReadFloorRecord } from "../../schemas/records.ts";
import { hasContentAccess } from "../../src/domain/permissions.ts";
import { type Place, ReadState } from "../../src/domain/read-state.ts";
import { collectUnread } from "../../src/domain/unread.ts";
import type { View } from "../../src/domain/view.ts";
import type { MarkedPlace, ReadAnnouncement } from "../commands/read-state.ts";
import { type Command, command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { announceLater, announceNow } from "./read-announcements.ts";
import { advancedFloor } from "./read-floors.ts";
import { type Candidate, hasMany, messageIn, newestIn, rowsIn } from "./read-places.ts";
import { flagEvents, nextMark, noteMarks, putFloor, takeMark } from "./read-rows.ts";

export function markTopicRead(_context: unknown, asked: Command<"read-state.mark-topic">, view: View): Outcome {
  const { channelId, topic, mustHaveReceived } = asked.params;
  const channel = channelOf(view, asked);
  if ("kind" in channel) return channel;
  const userId = asked.callerId ?? 0;
  const named = view.row("topicNames", [channelId, fold(topic)]);
  if (mustHaveReceived && (named === undefined || !hasReceivedAny(view, userId, channelId, named.id))) {
    return refuse.badRequest(`No such topic '${topic}'`);
  }
  return done({}, named === undefined ? [] : markPlace(view, userId, { channelId, conversationId: named.id }));
}

export function markChannelRead(_context: unknown, asked: Command<"read-state.mark-channel">, view: View): Outcome {
  const channel = channelOf(view, asked);
  if ("kind" in channel) return channel;
  return done({}, markPlace(view, asked.callerId ?? 0, { channelId: channel.id, conversationId: null }));
}

/** D24: a channel that the caller may not know is as one that is not there. */
function channelOf(
  view: View,
  asked: Command<"read-state.mark-topic"> | Command<"read-state.mark-channel">,
): ChannelRecord | Refusal {
  const caller = callerOf(asked, view);
  const channel = view.channels.get(asked.params.channelId);
  if (caller === null || channel === undefined || channel.isArchived) return refuse.invalidChannelId();
  return hasContentAccess(view, caller, channel) ? channel : refuse.invalidChannelId();
}

/** Behaviour 12.18: what others wrote while one was not there does not make a topic one's own. */
function hasReceivedAny(view: View, userId: number, channelId: number, conversationId: number): boolean {
  const stays = view.subscriptions.get(userId, channelId)?.stays ?? [];
  return stays.some(({ joinedAfterId, leftAtId }) => {
    const start = [conversationId, joinedAfterId + 1];
    const end = [conversationId, (leftAtId ?? Number.MAX_SAFE_INTEGER - 1) + 1];
    return view.keys("conversationMessages", { start, end, limit: 1 }).length > 0;
  });
}

function markPlace(view: View, userId: number, place: MarkedPlace): Effect[] {
  const state = new ReadState(view, userId);
  // Of whoever is not there nothing is unread.
  if (!state.holdsUnread({ id: place.conversationId ?? 0, channelId: place.channelId, userIds: null })) return [];
  const kind = place.conversationId === null ? "channel" : "conversation";
  const id = place.conversationId ?? place.channelId;
  const upTo = newestIn(view, place);
  const start = state.floorOf(place);
  const found = lookInline(view, userId, state, place, start);
  if (found !== null && found.length === 0) return [];
  const floor: ReadFloorRecord = { upTo, at: nextMark(view) };
  const marked = [takeMark(view), putFloor(kind, id, userId, floor)];
  if (found === null) {
    const before = floorsOf(state, place);
    const announcement = { place, before, at: nextMark(view), from: 0, start, upTo };
    return [...marked, ...noteMarks(view, userId, { newest: upTo }), ...announceLater(view, userId, announcement)];
  }
  const supposed = new ReadState(view, userId, { floors: [{ place: { kind, id }, floor }] });
  const advanced = kind === "channel" ? null : advancedFloor(view, place.channelId, supposed);
  return [
    ...marked,
    ...(advanced === null ? [] : [putFloor("channel", place.channelId, userId, advanced.floor)]),
    ...noteMarks(view, userId, { newest: Math.max(upTo, advanced?.floor.upTo ?? 0) }),
    ...spentExceptions(state, userId, found),
    ...flagEvents(userId, "add", "read", found),
  ];
}

/** Marks of single messages that say nothing any more. */
function spentExceptions(state: ReadState, userId: number, messageIds: readonly number[]): Effect[] {
  return messageIds.flatMap((messageId) =>
    state.exception(messageId) === undefined ? [] : [effects.remove("readExceptions", [userId, messageId])],
  );
}

/** The floors of now: what is raised later must not hide what is still to be told. */
function floorsOf(state: ReadState, { channelId, conversationId }: MarkedPlace): ReadAnnouncement["before"] {
  const places: Place[] = [
    { kind: "realm", id: 0 },
    { kind: "channel", id: channelId },
    ...(conversationId === null ? [] : [{ kind: "conversation", id: conversationId } as const]),
  ];
  return places.map((place) => ({ place, floor: state.floor(place) }));
}

/** Ids of what is unread in a place, ascending; null: it is too much to look at while somebody waits. */
function lookInline(
  view: View,
  userId: number,
  state: ReadState,
  place: MarkedPlace,
  start: number,
): readonly number[] | null {
  const limit = limits.read_rows_inline_max;
  const marked = view.keys("readExceptions", { start: [userId], end: [userId, start + 1], limit });
  if (marked.length === limit || hasMany(view, place, start + 1, limit)) return null;
  const rows = rowsIn(view, place, start + 1, limit);
  const older = marked.flatMap(([, id]) => messageIn(view, place, id) ?? []);
  const isUnread = ({ seen, conversation }: Candidate) => !state.isRead(seen, conversation);
  return [...older, ...rows].filter(isUnread).map(({ seen }) => seen.id);
}

/** Who left is told what is read by that: they knew of it. Who comes back meanwhile is told, too. */
export function leaveRead(view: View, userId: number, channelId: number): Effect[] {
  const place = { channelId, conversationId: null };
  const state = new ReadState(view, userId);
  const start = state.floorOf(place);
  const upTo = newestIn(view, place);
  const hasMarked = view.keys("readExceptions", { start: [userId], end: [userId + 1], limit: 1 }).length > 0;
  if (upTo <= start && !hasMarked) return [];
  const found = lookInline(view, userId, state, place, start);
  if (found !== null) {
    // What few there are is told at once: a move that comes between would take it out of sight of a later look.
    return [...spentExceptions(state, userId, found), ...flagEvents(userId, "add", "read", found)];
  }
  const before = floorsOf(state, place);
  const announcement = { place, before, at: nextMark(view), from: 0, start, upTo: Math.max(upTo, start) };
  return [takeMark(view), ...announceNow(view, userId, announcement)];
}

/** POST /mark_all_as_read: one row and one event, which names no messages. */
export function markAllRead(_context: unknown, asked: Command<"read-state.mark-all">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null) return refuse.noSuchUser();
  const upTo = view.counter("message");
  const hasExceptions = view.keys("readExceptions", { start: [caller.id], end: [caller.id + 1], limit: 1 }).length > 0;
  const answer = { complete: true };
  if (!hasExceptions && new ReadState(view, caller.id).marks.upTo === upTo) return done(answer, []);
  const body = { op: "add", operation: "add", flag: "read", messages: [], all: true };
  const sweep = command(asked.to, "read-state.sweep", { from: 0, upTo, at: nextMark(view) }, null);
  return done(answer, [
    takeMark(view),
    ...noteMarks(view, caller.id, { newest: upTo, upTo, at: nextMark(view) }),
    effects.emit("update_message_flags", body, { to: "users", ids: [caller.id] }),
    ...(hasExceptions ? [effects.schedule(view.now, sweep)] : []),
  ]);
}

/** Exceptions that the mark of everything has made needless. */
export function sweepExceptions(_context: unknown, asked: Command<"read-state.sweep">, view: View): Outcome {
  const { from, upTo, at } = asked.params;
  const userId = (asked.to as { readonly id: number }).id;
  const limit = limits.read_rows_per_command_max;
  const rows = view.rows("readExceptions", { start: [userId, from], end: [userId, upTo + 1], limit });
  const spent = rows.filter(({ row }) => row.isRead || row.at < at);
  const onward = { ...asked.params, from: (rows.at(-1)?.key[1] ?? upTo) + 1 };
  return done({}, [
    ...spent.map(({ key }) => effects.remove("readExceptions", key)),
    ...(rows.length < limit ? [] : [effects.tell(command(asked.to, "read-state.sweep", onward, null))]),
  ]);
}

/** What somebody who is muted wrote is read, and what they write from now on (behaviour 5.1). Told at once: a mark that follows
 * in the same turn, or a channel that is left, would hide what was unread until now. */
export function muteSender(view: View, userId: number, senderId: number): Effect[] {
  const ids = collectUnread(view, userId).messages.flatMap((message) =>
    message.senderId === senderId ? message.id : [],
  );
  const pieces = Math.ceil(ids.length / limits.event_ids_per_piece_max);
  const told = Array.from({ length: pieces }, (_, index) => {
    const first = index * limits.event_ids_per_piece_max;
    return flagEvents(userId, "add", "read", ids.slice(first, first + limits.event_ids_per_piece_max));
  });
  return [
    takeMark(view),
    putFloor("sender", senderId, userId, { upTo: Number.MAX_SAFE_INTEGER, at: nextMark(view) }),
    ...noteMarks(view, userId, { newest: 0, hasSenderFloors: true }),
    ...told.flat(),
  ];
}

/** What they wrote while they were muted stays read. */
export function unmuteSender(view: View, userId: number, senderId: number): Effect[] {
  const floor = new ReadState(view, userId).floor({ kind: "sender", id: senderId });
  if (floor === null) return [];
  const upTo = view.counter("message");
  return [putFloor("sender", senderId, userId, { upTo, at: floor.at }), ...noteMarks(view, userId, { newest: upTo })];
}
