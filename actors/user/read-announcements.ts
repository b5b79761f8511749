/**
 * Emits the flag events for messages that a mark-as-read or an unsubscription made read, in slices of one turn each, so
 * that the user waits only for the mark. While an announcement for a channel is pending, a row records it, and messages
 * that leave the channel or topic are recorded as departures, so that they too are announced exactly once. Commands of
 * an older server have no row yet; their first slice writes it.
 */

import { ReadState } from "../../domain/read-state.ts";
import type { View } from "../../domain/view.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { ReadAnnouncement, ReadDepartureRecord, ReadWatermarkRecord } from "../../schemas/read-state.ts";
import {
  addressAs,
  type Command,
  done,
  type Effect,
  effects,
  forServer,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";
import { announceLater, announcementKey, isGivenUp } from "../rules/read-announcements.ts";
import { type Candidate, messageIn, rowsIn } from "../rules/read-places.ts";
import { flagEvents, nextMark, noteMarks, putWatermark, takeMark } from "../rules/read-rows.ts";
import { advancedWatermark } from "../rules/read-watermarks.ts";

/**
 * One slice: first the messages below the old watermark that the user had marked as unread, then those between the old
 * and the new watermark. A message whose state the user has changed since is skipped.
 */
export function announceRead(
  params: Params<"read-state.announce">,
  view: View,
  command: Command<"read-state.announce">,
): Outcome {
  const userId = addressAs(command.to, "user").id;
  const { stayed, gone, next } = nextSlice(view, userId, params);
  const states = statesOf(view, userId, params, [...stayed, ...gone]);
  const keptBefore = olderMarkPending(view, userId, params);
  const here = announceRemaining(userId, states, stayed, keptBefore);
  const elsewhere = announceDeparted(view, userId, states, { gone, at: params.at, keptBefore });
  const announcedIds = [...here.announcedIds, ...elsewhere.announcedIds].sort((a, b) => a - b);
  const isLast = next > params.upTo;
  const watermark = isLast ? watermarkAfter(view, userId, params) : null;
  return done({}, [
    ...here.rows,
    ...elsewhere.rows,
    ...(watermark === null ? [] : [putWatermark("channel", params.place.channelId, userId, watermark)]),
    ...noteMarks(view, userId, { newest: Math.max(elsewhere.newestKept, watermark?.upTo ?? 0) }),
    ...flagEvents(userId, "add", "read", announcedIds),
    ...(isLast
      ? finish(view, userId, params)
      : announceLater(view, userId, { ...params, from: next }, limits.read_announcement_pause_ms)),
  ]);
}

/**
 * The channel's watermark. Marking a topic leaves it unchanged until the announcement is complete, so that the request
 * need not wait for it.
 */
function watermarkAfter(view: View, userId: UserId, { place }: ReadAnnouncement): ReadWatermarkRecord | null {
  const { channelId, conversationId } = place;
  const state = new ReadState(view, userId);
  if (conversationId === null || !state.holdsUnread({ id: conversationId, channelId, userIds: null })) return null;
  return advancedWatermark(view, channelId, state)?.watermark ?? null;
}

interface Slice {
  /** Ascending, like the others. */
  readonly stayed: readonly Candidate[];
  /** In the state in which they were moved away. */
  readonly gone: readonly Candidate[];
  /** Start of the next slice. */
  readonly next: number;
}

function nextSlice(view: View, userId: UserId, params: ReadAnnouncement): Slice {
  const { place, from } = params;
  const limit = limits.read_rows_per_command_max;
  const present = from <= params.start ? markedIn(view, userId, params, limit) : newerIn(view, params, limit);
  const range = { start: [place.channelId, from], end: [place.channelId, present.next], limit };
  const rows = view.rows("readDepartures", range);
  // The last message may have more rows, so it is left to the next slice.
  const isCut = rows.length === limit;
  let next = isCut ? Math.max(from + 1, rows.at(-1)?.key[1] ?? 0) : present.next;
  const departed = new Map<number, ReadDepartureRecord>();
  for (const { key, row } of rows) {
    // The first departure after the mark tells where the message was when it was marked.
    if (key[1] < next && key[2] >= params.at && !departed.has(key[1])) departed.set(key[1], row);
  }
  const stayed = present.candidates.filter(({ seen }) => seen.id < next && !departed.has(seen.id));
  const gone = [...departed].flatMap(([id, row]) => departedFrom(params, id, row) ?? []);
  const ids = [...stayed, ...gone].map(({ seen }) => seen.id).sort((a, b) => a - b);
  next = ids[limit] ?? next;
  const isNow = ({ seen }: Candidate) => seen.id < next;
  return { stayed: stayed.filter(isNow), gone: gone.filter(isNow), next };
}

interface Present {
  readonly candidates: readonly Candidate[];
  readonly next: number;
}

function markedIn(view: View, userId: UserId, { place, from, start }: ReadAnnouncement, limit: number): Present {
  const keys = view.keys("readExceptions", { start: [userId, from], end: [userId, start + 1], limit });
  const last = keys.length < limit ? start : (keys.at(-1)?.[1] ?? start);
  return { candidates: keys.flatMap(([, id]) => messageIn(view, place, id) ?? []), next: last + 1 };
}

function newerIn(view: View, { place, from, upTo }: ReadAnnouncement, limit: number): Present {
  const rows = rowsIn(view, place, from, limit).filter(({ seen }) => seen.id <= upTo);
  const last = rows.length < limit ? upTo : (rows.at(-1)?.seen.id ?? upTo);
  return { candidates: rows, next: last + 1 };
}

function departedFrom({ place }: ReadAnnouncement, id: number, row: ReadDepartureRecord): Candidate | null {
  const { conversationId, senderId, traits } = row;
  if (place.conversationId !== null && place.conversationId !== conversationId) return null;
  const conversation = { id: conversationId, channelId: place.channelId, userIds: null };
  return { seen: { id, senderId, traits }, conversation };
}

interface States {
  /** Before the mark. */
  readonly was: ReadState;
  readonly is: ReadState;
}

function statesOf(view: View, userId: UserId, params: ReadAnnouncement, candidates: readonly Candidate[]): States {
  const { place, before, at } = params;
  const was = new ReadState(view, userId, {
    watermarks: before,
    conversationWatermarksBefore: at,
    senderWatermarksBefore: at,
    readExceptionsBefore: at,
    // The user was subscribed when marking, but may have unsubscribed since.
    remainsIn: place.channelId,
  });
  const is = new ReadState(view, userId);
  const exceptions = exceptionsAbout(view, userId, candidates);
  if (exceptions !== null) for (const state of [was, is]) state.useExceptions(exceptions);
  return { was, is };
}

/** All exceptions of the user for these messages, read at once; null: too many to read. */
function exceptionsAbout(view: View, userId: UserId, candidates: readonly Candidate[]) {
  const ids = candidates.map(({ seen }) => seen.id);
  if (ids.length === 0) return null;
  const range = { start: [userId, Math.min(...ids)], end: [userId, Math.max(...ids) + 1] };
  const limit = limits.read_rows_per_command_max;
  const rows = view.rows("readExceptions", { ...range, limit });
  return rows.length === limit ? null : new Map(rows.map(({ key, row }) => [key[1], row]));
}

/**
 * The latest of the older marks that are still being announced. Exceptions from before it tell what was unread then; a
 * later one would make its message unread again where it moves to. 0: none.
 */
function olderMarkPending(view: View, userId: UserId, { place, at }: ReadAnnouncement): number {
  const range = { start: [place.channelId, userId, at - 1], end: [place.channelId, userId], reverse: true };
  const latest = view.rows("readAnnouncements", { ...range, limit: limits.read_announcements_examined_max });
  return latest.find(({ row }) => !isGivenUp(view, row))?.key[2] ?? 0;
}

interface Announced {
  readonly announcedIds: readonly number[];
  readonly rows: readonly Effect[];
}

function announceRemaining(
  userId: UserId,
  { was, is }: States,
  candidates: readonly Candidate[],
  keptBefore: number,
): Announced {
  const announcedIds: number[] = [];
  const rows: Effect[] = [];
  for (const { seen, conversation } of candidates) {
    if (!is.isRead(seen, conversation)) continue;
    if (!was.isRead(seen, conversation)) announcedIds.push(seen.id);
    const exception = is.exception(seen.id);
    if (exception !== undefined && exception.at >= keptBefore && is.isReadAnyway(seen, conversation)) {
      rows.push(effects.remove("readExceptions", [userId, seen.id]));
    }
  }
  return { announcedIds, rows };
}

interface Departed {
  readonly gone: readonly Candidate[];
  readonly at: number;
  readonly keptBefore: number;
}

interface AnnouncedDeparted extends Announced {
  /** The newest message that now has its own exception; 0: none. */
  readonly newestKept: number;
}

/**
 * The mark made these messages read before they moved. If they would be unread in their new place, an exception is
 * written.
 */
function announceDeparted(
  view: View,
  userId: UserId,
  { was, is }: States,
  { gone, at, keptBefore }: Departed,
): AnnouncedDeparted {
  const announcedIds: number[] = [];
  const kept: number[] = [];
  const redundant: Effect[] = [];
  for (const { seen, conversation } of gone) {
    const exception = is.exception(seen.id);
    const isUnreadSince = exception?.isRead === false && exception.at >= at;
    const message = view.row("messages", seen.id);
    const present = message === undefined ? undefined : view.row("conversations", message.conversationId);
    if (message === undefined || present === undefined) continue;
    if (isUnreadSince || was.isRead(seen, conversation)) continue;
    announcedIds.push(seen.id);
    if (!is.isRead(message, present)) kept.push(seen.id);
    else if (exception?.isRead === false && exception.at >= keptBefore)
      redundant.push(effects.remove("readExceptions", [userId, seen.id]));
  }
  if (kept.length === 0) return { announcedIds, rows: redundant, newestKept: 0 };
  const read = { isRead: true, at: nextMark(view) };
  const rows = kept.map((id) => effects.put("readExceptions", [userId, id], read));
  return { announcedIds, rows: [...redundant, takeMark(view), ...rows], newestKept: Math.max(...kept) };
}

/**
 * The channel's last announcement deletes the departures before its own row, so that a crash in between leaves no
 * departure behind.
 */
function finish(view: View, userId: UserId, params: ReadAnnouncement): Effect[] {
  const { channelId } = params.place;
  const range = { start: [channelId], end: [channelId + 1] };
  const isOther = ([, who, at]: readonly number[]) => who !== userId || at !== params.at;
  const end = effects.remove("readAnnouncements", announcementKey(userId, params));
  if (view.keys("readAnnouncements", { ...range, limit: 2 }).some(isOther)) return [end];
  const limit = limits.read_rows_per_command_max;
  const departures = view.keys("readDepartures", { ...range, limit });
  const removed = departures.map((key) => effects.remove("readDepartures", key));
  if (departures.length < limit) return [...removed, end];
  return [
    ...removed,
    ...announceLater(view, userId, { ...params, from: params.upTo + 1 }, limits.read_announcement_pause_ms),
  ];
}

export const readAnnouncementsDecisions = {
  "read-state.announce": forServer(announceRead),
} as const;
