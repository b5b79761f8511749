/**
 * What a mark or leaving made read, told slice after slice where it is much: each in a turn of its own, so that whoever marked
 * waits for the mark alone, and others have their turns between slices. While anything of a channel is left to tell, a row says so,
 * and messages that leave their place are noted down (departures): they are told like those that stayed, each once, when their
 * slice comes. Of an older server's commands, which have no row yet, the first slice writes it.
 */
import { limits } from "../../schemas/limits.ts";
import type { ReadDepartureRecord, ReadFloorRecord } from "../../schemas/records/read-state.ts";
import type { RowOf } from "../../schemas/records.ts";
import { ReadState } from "../../src/domain/read-state.ts";
import type { View } from "../../src/domain/view.ts";
import type { ReadAnnouncement } from "../commands/read-state.ts";
import { type Command, command } from "../commands.ts";
import { done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { advancedFloor } from "./read-floors.ts";
import { type Candidate, messageIn, rowsIn } from "./read-places.ts";
import { flagEvents, nextMark, noteMarks, putFloor, takeMark } from "./read-rows.ts";

/** After the turn that asks for it. */
export function announceLater(view: View, userId: number, announcement: ReadAnnouncement, afterMs = 0): Effect[] {
  return [begun(view, userId, announcement), effects.schedule(view.now + afterMs, announcing(userId, announcement))];
}

/** In the same turn, as far as there is time. */
export function announceNow(view: View, userId: number, announcement: ReadAnnouncement): Effect[] {
  return [begun(view, userId, announcement), effects.tell(announcing(userId, announcement))];
}

function announcing(userId: number, announcement: ReadAnnouncement): Command {
  return command({ actor: "user", id: userId }, "read-state.announce", announcement, null);
}

/** When it began is kept from slice to slice. */
function begun(view: View, userId: number, announcement: ReadAnnouncement): Effect {
  const key = keyOf(userId, announcement);
  return effects.put("readAnnouncements", key, view.row("readAnnouncements", key) ?? { startedAt: view.now });
}

function keyOf(userId: number, { place, at }: ReadAnnouncement) {
  return [place.channelId, userId, at] as const;
}

/** Messages that leave a conversation, written down if anybody is still to be told that they were read there. */
export function noteDepartures(
  view: View,
  from: { readonly id: number; readonly channelId: number },
  messages: readonly { readonly id: number; readonly senderId: number; readonly traits: number }[],
): Effect[] {
  const limit = limits.read_announcements_looked_at_max;
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

function isGivenUp(view: View, { startedAt }: RowOf<"readAnnouncements">): boolean {
  return startedAt + limits.read_announcement_ms_max < view.now;
}

/**
 * One slice: first what was marked as unread by hand below the floor of then, afterwards what lies between it and the new one.
 * Who has marked a message otherwise meanwhile is not told of the past.
 */
export function announceRead(_context: unknown, asked: Command<"read-state.announce">, view: View): Outcome {
  const { params } = asked;
  const userId = (asked.to as { readonly id: number }).id;
  const { stayed, gone, next } = nextSlice(view, userId, params);
  const states = statesOf(view, userId, params, [...stayed, ...gone]);
  const keepsExceptions = isOlderUntold(view, userId, params);
  const here = toldOfStayed(userId, states, stayed, keepsExceptions);
  const elsewhere = toldOfGone(view, userId, states, { gone, at: params.at, keepsExceptions });
  const told = [...here.told, ...elsewhere.told].sort((a, b) => a - b);
  const isLast = next > params.upTo;
  const floor = isLast ? floorAfter(view, userId, params) : null;
  return done({}, [
    ...here.rows,
    ...elsewhere.rows,
    ...(floor === null ? [] : [putFloor("channel", params.place.channelId, userId, floor)]),
    ...noteMarks(view, userId, { newest: Math.max(elsewhere.newestKept, floor?.upTo ?? 0) }),
    ...flagEvents(userId, "add", "read", told),
    ...(isLast
      ? finish(view, userId, params)
      : announceLater(view, userId, { ...params, from: next }, limits.read_announcement_pause_ms)),
  ]);
}

/** The channel's floor, which a mark of a topic leaves alone while somebody waits for it. */
function floorAfter(view: View, userId: number, { place }: ReadAnnouncement): ReadFloorRecord | null {
  const { channelId, conversationId } = place;
  const state = new ReadState(view, userId);
  if (conversationId === null || !state.holdsUnread({ id: conversationId, channelId, userIds: null })) return null;
  return advancedFloor(view, channelId, state)?.floor ?? null;
}

interface Slice {
  /** Ascending, as are the others. */
  readonly stayed: readonly Candidate[];
  /** As they were when they left the place. */
  readonly gone: readonly Candidate[];
  /** Where the next one begins. */
  readonly next: number;
}

function nextSlice(view: View, userId: number, params: ReadAnnouncement): Slice {
  const { place, from } = params;
  const limit = limits.read_rows_per_command_max;
  const present = from <= params.start ? markedIn(view, userId, params, limit) : newerIn(view, params, limit);
  const range = { start: [place.channelId, from], end: [place.channelId, present.next], limit };
  const rows = view.rows("readDepartures", range);
  // Of the last one there may be more rows: it comes with the next slice.
  const isCut = rows.length === limit;
  let next = isCut ? Math.max(from + 1, rows.at(-1)?.key[1] ?? 0) : present.next;
  const departed = new Map<number, ReadDepartureRecord>();
  for (const { key, row } of rows) {
    // Where it was at the time of the mark is where it left first since then.
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

function markedIn(view: View, userId: number, { place, from, start }: ReadAnnouncement, limit: number): Present {
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

function statesOf(view: View, userId: number, params: ReadAnnouncement, candidates: readonly Candidate[]): States {
  const { place, before, at, upTo } = params;
  const was = new ReadState(view, userId, {
    floors: before,
    conversationFloorsUpTo: upTo,
    senderFloorsBefore: at,
    readExceptionsBefore: at,
    // Whoever marked was there, and may have left since.
    remainsIn: place.channelId,
  });
  const is = new ReadState(view, userId);
  const exceptions = exceptionsAbout(view, userId, candidates);
  if (exceptions !== null) for (const state of [was, is]) state.useExceptions(exceptions);
  return { was, is };
}

/** All of the person's among these messages, read at once; null: there are too many to know. */
function exceptionsAbout(view: View, userId: number, candidates: readonly Candidate[]) {
  const ids = candidates.map(({ seen }) => seen.id);
  if (ids.length === 0) return null;
  const range = { start: [userId, Math.min(...ids)], end: [userId, Math.max(...ids) + 1] };
  const limit = limits.read_rows_per_command_max;
  const rows = view.rows("readExceptions", { ...range, limit });
  return rows.length === limit ? null : new Map(rows.map(({ key, row }) => [key[1], row]));
}

/** Of an older mark something is left to tell: without the exceptions of then, it would not find what was unread. */
function isOlderUntold(view: View, userId: number, { place, at }: ReadAnnouncement): boolean {
  const range = { start: [place.channelId, userId], end: [place.channelId, userId, at] };
  const older = view.rows("readAnnouncements", { ...range, limit: limits.read_announcements_looked_at_max });
  return older.some(({ row }) => !isGivenUp(view, row));
}

interface Told {
  readonly told: readonly number[];
  readonly rows: readonly Effect[];
}

function toldOfStayed(
  userId: number,
  { was, is }: States,
  candidates: readonly Candidate[],
  keepsExceptions: boolean,
): Told {
  const told: number[] = [];
  const rows: Effect[] = [];
  for (const { seen, conversation } of candidates) {
    if (!is.isRead(seen, conversation)) continue;
    if (!was.isRead(seen, conversation)) told.push(seen.id);
    if (!keepsExceptions && is.exception(seen.id) !== undefined && is.isReadAnyway(seen, conversation)) {
      rows.push(effects.remove("readExceptions", [userId, seen.id]));
    }
  }
  return { told, rows };
}

interface Departed {
  readonly gone: readonly Candidate[];
  readonly at: number;
  readonly keepsExceptions: boolean;
}

interface ToldOfGone extends Told {
  /** The newest that has a row of its own now; 0: none. */
  readonly newestKept: number;
}

/** The mark made them read before they left; if nothing says so where they are now, a row of its own does. */
function toldOfGone(
  view: View,
  userId: number,
  { was, is }: States,
  { gone, at, keepsExceptions }: Departed,
): ToldOfGone {
  const told: number[] = [];
  const kept: number[] = [];
  const spent: Effect[] = [];
  for (const { seen, conversation } of gone) {
    const exception = is.exception(seen.id);
    const isUnreadSince = exception?.isRead === false && exception.at >= at;
    const message = view.row("messages", seen.id);
    const present = message === undefined ? undefined : view.row("conversations", message.conversationId);
    if (message === undefined || present === undefined) continue;
    if (isUnreadSince || was.isRead(seen, conversation)) continue;
    told.push(seen.id);
    if (!is.isRead(message, present)) kept.push(seen.id);
    else if (!keepsExceptions && exception?.isRead === false)
      spent.push(effects.remove("readExceptions", [userId, seen.id]));
  }
  if (kept.length === 0) return { told, rows: spent, newestKept: 0 };
  const read = { isRead: true, at: nextMark(view) };
  const rows = kept.map((id) => effects.put("readExceptions", [userId, id], read));
  return { told, rows: [...spent, takeMark(view), ...rows], newestKept: Math.max(...kept) };
}

/** The last one of a channel takes the departures with it, before its own row: a crash in between leaves nothing behind. */
function finish(view: View, userId: number, params: ReadAnnouncement): Effect[] {
  const { channelId } = params.place;
  const range = { start: [channelId], end: [channelId + 1] };
  const isOther = ([, who, at]: readonly number[]) => who !== userId || at !== params.at;
  const end = effects.remove("readAnnouncements", keyOf(userId, params));
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
