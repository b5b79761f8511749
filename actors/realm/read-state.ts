/**
 * Read state goes along with messages that change their place (architecture, Read state): what was unread stays so, and what was
 * read. Only people for whom something can change are looked at: within a channel those with a floor in one of the two topics;
 * across channels who is in the channel that the messages leave. For whoever is not, messages that came from elsewhere are read.
 *
 * Nobody may find messages gone and their read state not: it is written in the command that moves them, or, of many people, before
 * it, slice after slice, as rows that say of each message what holds where it still is. Nothing else is decided until they go.
 */
import { limits } from "../../schemas/limits.ts";
import { messageTraits } from "../../schemas/message-traits.ts";
import { floorKinds } from "../../schemas/records/read-state.ts";
import type { ReadFloorRecord } from "../../schemas/records.ts";
import { LowestIds } from "../../src/domain/lowest-ids.ts";
import { canReadChannelMessage } from "../../src/domain/permissions.ts";
import { type ReadPlace, ReadState, type Seen } from "../../src/domain/read-state.ts";
import type { View } from "../../src/domain/view.ts";
import { type Command, command } from "../commands.ts";
import { done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { noteDepartures } from "../user/read-announcements.ts";
import { flagEvents, nextMark, noteMarks, putFloor, takeMark } from "../user/read-rows.ts";

interface Place {
  readonly id: number;
  readonly channelId: number;
}

interface Way {
  readonly from: Place;
  readonly to: Place;
}

export interface MovedMessages extends Way {
  /** As they were. */
  readonly messages: readonly Seen[];
  /** The topic is made for them. */
  readonly isNew: boolean;
  /** No message that is meant is newer. */
  readonly upToId: number;
  /** Whose has been carried already. */
  readonly afterUserId: number;
}

/** The traits of a message that goes to a channel: one from elsewhere is unread only for whom it was so before. */
export function traitsInChannel(traits: number, from: number, to: number): number {
  return from === to ? traits : traits | messageTraits.changedChannel;
}

/** So many messages at once that not too many people's read state goes with them. */
export function carriedAtOnce(view: View, way: Way): number {
  const least = limits.move_batch_messages_min;
  const most = Math.ceil(limits.carried_read_states_per_batch / least);
  const people = Math.max(1, concernedCount(view, way, most));
  return Math.min(
    limits.move_batch_messages,
    Math.max(least, Math.floor(limits.carried_read_states_per_batch / people)),
  );
}

/** At least as many as there are, as far as it matters. */
function concernedCount(view: View, { from, to }: Way, most: number): number {
  if (from.channelId !== to.channelId) return view.subscriptions.ofChannel(from.channelId).size;
  return [from.id, to.id].reduce((sum, id) => sum + floorHolders(view, id, 0, most).length, 0);
}

function floorHolders(view: View, conversationId: number, afterUserId: number, limit: number): number[] {
  const kind = floorKinds.conversation;
  const range = { start: [kind, conversationId, afterUserId + 1], end: [kind, conversationId + 1], limit };
  return view.keys("readFloors", range).map(([, , userId]) => userId);
}

/** The next people, ascending. */
function concerned(view: View, { from, to }: Way, afterUserId: number, limit: number): number[] {
  const lowest = new LowestIds(limit);
  const all =
    from.channelId === to.channelId
      ? [from.id, to.id].flatMap((id) => floorHolders(view, id, afterUserId, limit))
      : view.subscriptions.ofChannel(from.channelId);
  for (const id of all) if (id > afterUserId) lowest.add(id);
  return lowest.ascending();
}

export interface Carried {
  readonly rows: readonly Effect[];
  /** Who was the last one, if there are more people; null: the messages can go, in this command. */
  readonly onward: number | null;
}

/** Of one slice of people. */
export function carryReadState(view: View, moved: MovedMessages): Carried {
  const { messages, from, to, afterUserId } = moved;
  if (messages.length === 0) return { rows: [], onward: null };
  const limit = Math.max(1, Math.floor(limits.carried_read_states_per_command_max / messages.length));
  const people = concerned(view, moved, afterUserId, limit + 1);
  const userIds = people.slice(0, limit);
  const onward = people.length > limit ? (userIds.at(-1) ?? null) : null;
  const pairs = messages.map((before) => {
    const traits = traitsInChannel(before.traits, from.channelId, to.channelId);
    return { before, after: { ...before, traits } };
  });
  const rows = userIds.flatMap((userId) => carryFor(view, userId, moved, { pairs, isAhead: onward !== null }));
  return { rows: [...(rows.length === 0 ? [] : [takeMark(view)]), ...rows], onward };
}

/** With the messages themselves. */
export function departureOf(view: View, { messages, from }: MovedMessages): Effect[] {
  return messages.length === 0 ? [] : noteDepartures(view, from, messages);
}

/** What an older server left to do: it moved messages first. */
export function carryLate(_context: unknown, asked: Command<"read-state.carry">, view: View): Outcome {
  const { params } = asked;
  // What has gone on, or is deleted, is somebody else's matter by now.
  const isThere = ({ id }: Seen) => view.row("conversationMessages", [params.to.id, id]) !== undefined;
  const { rows, onward } = carryReadState(view, { ...params, messages: params.messages.filter(isThere) });
  if (onward === null) return done({}, rows);
  return done({}, [...rows, effects.goOn(command(asked.to, asked.type, { ...params, afterUserId: onward }, null))]);
}

interface Slice {
  readonly pairs: readonly { readonly before: Seen; readonly after: Seen }[];
  /** The messages go in a later command. */
  readonly isAhead: boolean;
}

function carryFor(view: View, userId: number, moved: MovedMessages, { pairs, isAhead }: Slice): Effect[] {
  const from: ReadPlace = { ...moved.from, userIds: null };
  const to: ReadPlace = { ...moved.to, userIds: null };
  const floor = copiedFloor(view, userId, moved);
  const was = new ReadState(view, userId);
  const place = { kind: "conversation", id: to.id } as const;
  const is = new ReadState(view, userId, floor === null ? {} : { floors: [{ place, floor }] });
  const isShown = sightOf(view, userId, to);
  const staysUnread: number[] = [];
  const staysRead: number[] = [];
  const told: number[] = [];
  const spent: Effect[] = [];
  for (const { before, after } of pairs) {
    const wasRead = was.isRead(before, from);
    const isKept = is.holdsUnread(to) && isShown(after.id);
    if (wasRead === (!isKept || is.isRead(after, to))) continue;
    const exception = was.exception(after.id);
    if (wasRead) {
      staysRead.push(after.id);
      // A later mark made it read, and its announcement, which comes yet, would not find that it had been unread.
      if (exception?.isRead === false) told.push(after.id);
    } else if (isKept) staysUnread.push(after.id);
    else {
      told.push(after.id);
      // Until it goes it must be as it was told to be.
      if (isAhead) staysRead.push(after.id);
      // Else it would be unread again for who joins the channel later.
      else if (exception !== undefined) spent.push(effects.remove("readExceptions", [userId, after.id]));
    }
  }
  const exceptions = (ids: readonly number[], isRead: boolean) =>
    ids.map((id) => effects.put("readExceptions", [userId, id], { isRead, at: nextMark(view) }));
  const newest = Math.max(0, floor?.upTo ?? 0, ...staysRead, ...staysUnread);
  return [
    ...(floor === null ? [] : [putFloor("conversation", to.id, userId, floor)]),
    ...exceptions(staysRead, true),
    ...exceptions(staysUnread, false),
    ...spent,
    ...noteMarks(view, userId, { newest }),
    ...flagEvents(userId, "add", "read", told),
  ];
}

/** Whether the person may read a message there: in protected history, what they did not receive in that channel is not theirs. */
function sightOf(view: View, userId: number, { channelId }: ReadPlace): (messageId: number) => boolean {
  const user = view.users.get(userId);
  const channel = view.channels.get(channelId ?? 0);
  if (user === undefined || channel === undefined) return () => false;
  if (!channel.isPrivate || channel.isHistoryPublic) return () => true;
  return (messageId) => canReadChannelMessage(view, user, channel, messageId);
}

/** In a topic that is made for the messages, the floor of the one that they come from says it all in one row. */
function copiedFloor(view: View, userId: number, { from, to, isNew, upToId }: MovedMessages): ReadFloorRecord | null {
  if (!isNew || from.channelId !== to.channelId) return null;
  const former = view.row("readFloors", [floorKinds.conversation, from.id, userId]);
  return former === undefined ? null : { ...former, upTo: Math.min(former.upTo, upToId) };
}
