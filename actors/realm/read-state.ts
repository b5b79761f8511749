/**
 * Read state goes along with messages that change their place (architecture, Read state): what was unread stays so, and what was
 * read. Only people for whom something can change are looked at: within a channel those with a floor in one of the two topics;
 * across channels who is in the channel that the messages leave. For whoever is not, messages that came from elsewhere are read.
 */
import { limits } from "../../schemas/limits.ts";
import { messageTraits } from "../../schemas/message-traits.ts";
import { floorKinds } from "../../schemas/records/read-state.ts";
import type { MessageRecord, ReadFloorRecord } from "../../schemas/records.ts";
import { type ReadPlace, ReadState, type Seen } from "../../src/domain/read-state.ts";
import type { View } from "../../src/domain/view.ts";
import type { CarriedReadState } from "../commands/read-state.ts";
import { type Command, command } from "../commands.ts";
import { done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { noteDepartures } from "../user/read-announcements.ts";
import { flagEvents, nextMark, noteMarks, putFloor, takeMark } from "../user/read-rows.ts";

export interface MovedMessages {
  /** As they were. */
  readonly messages: readonly MessageRecord[];
  readonly from: { readonly id: number; readonly channelId: number };
  readonly to: { readonly id: number; readonly channelId: number };
  /** The topic was made for them. */
  readonly isNew: boolean;
  /** No message that is meant is newer. */
  readonly upToId: number;
}

/** The traits of a message that goes to a channel: one from elsewhere is unread only for whom it was so before. */
export function traitsInChannel(traits: number, from: number, to: number): number {
  return from === to ? traits : traits | messageTraits.changedChannel;
}

/** What a batch of moved messages comes to for their readers: told apart, so that no move waits for it. */
export function movedReadState(view: View, { messages, ...move }: MovedMessages): Effect[] {
  const seen = messages.map(({ id, senderId, traits }) => ({ id, senderId, traits }));
  const carried = { ...move, messages: seen, afterUserId: 0, at: nextMark(view) };
  if (seen.length === 0) return [];
  const departures = noteDepartures(view, move.from, seen);
  if (concerned(view, carried, 1).length === 0) return departures;
  return [...departures, effects.tell(command({ actor: "realm" }, "read-state.carry", carried, null))];
}

/** The next people, ascending. */
function concerned(view: View, { from, to, afterUserId }: CarriedReadState, limit: number): number[] {
  if (from.channelId !== to.channelId) {
    const subscribers = [...view.subscriptions.ofChannel(from.channelId)].filter((id) => id > afterUserId);
    return subscribers.sort((a, b) => a - b).slice(0, limit);
  }
  const holders = [from.id, to.id].flatMap((conversationId) => {
    const kind = floorKinds.conversation;
    const range = { start: [kind, conversationId, afterUserId + 1], end: [kind, conversationId + 1], limit };
    return view.keys("readFloors", range).map(([, , userId]) => userId);
  });
  return [...new Set(holders)].sort((a, b) => a - b).slice(0, limit);
}

/** One slice of people. */
export function carryReadState(_context: unknown, asked: Command<"read-state.carry">, view: View): Outcome {
  const { params } = asked;
  const limit = Math.max(1, Math.floor(limits.carried_read_states_per_command_max / params.messages.length));
  const userIds = concerned(view, params, limit);
  // What has gone on, or is deleted, is somebody else's matter by now.
  const messages = params.messages.flatMap((before) => {
    const index = view.row("conversationMessages", [params.to.id, before.id]);
    return index === undefined ? [] : [{ before, after: { id: before.id, ...index } }];
  });
  const all = [takeMark(view), ...userIds.flatMap((userId) => carryFor(view, userId, params, messages))];
  const last = userIds.at(-1);
  if (userIds.length === limit && last !== undefined) {
    all.push(effects.tell(command(asked.to, "read-state.carry", { ...params, afterUserId: last }, null)));
  }
  return done({}, all);
}

interface MovedMessage {
  readonly before: Seen;
  readonly after: Seen;
}

function carryFor(view: View, userId: number, move: CarriedReadState, messages: readonly MovedMessage[]): Effect[] {
  const from: ReadPlace = { ...move.from, userIds: null };
  const to: ReadPlace = { ...move.to, userIds: null };
  const floor = copiedFloor(view, userId, move);
  const was = new ReadState(view, userId);
  const place = { kind: "conversation", id: to.id } as const;
  const is = new ReadState(view, userId, floor === null ? {} : { floors: [{ place, floor }] });
  const staysUnread: number[] = [];
  const staysRead: number[] = [];
  const told: number[] = [];
  const spent: Effect[] = [];
  for (const { before, after } of messages) {
    const wasRead = was.isRead(before, from);
    if (wasRead === is.isRead(after, to)) continue;
    if (wasRead) {
      staysRead.push(after.id);
      // A later mark made it read, and its announcement, which comes yet, would not find that it had been unread.
      if (was.exception(after.id)?.isRead === false) told.push(after.id);
    } else if (!is.holdsUnread(to)) {
      told.push(after.id);
      // Else it would be unread again for who joins the channel later.
      if (was.exception(after.id) !== undefined) spent.push(effects.remove("readExceptions", [userId, after.id]));
    } else if (!is.isFlooredSince(after, to, move.at)) staysUnread.push(after.id);
  }
  const exception = (id: number, isRead: boolean) =>
    effects.put("readExceptions", [userId, id], { isRead, at: nextMark(view) });
  const newest = Math.max(0, floor?.upTo ?? 0, ...staysRead, ...staysUnread);
  return [
    ...(floor === null ? [] : [putFloor("conversation", to.id, userId, floor)]),
    ...staysRead.map((id) => exception(id, true)),
    ...staysUnread.map((id) => exception(id, false)),
    ...spent,
    ...noteMarks(view, userId, { newest }),
    ...flagEvents(userId, "add", "read", told),
  ];
}

/** In a topic that was made for the messages, the floor of the one that they come from says it all in one row. */
function copiedFloor(
  view: View,
  userId: number,
  { from, to, isNew, upToId }: CarriedReadState,
): ReadFloorRecord | null {
  if (!isNew || from.channelId !== to.channelId) return null;
  const floorOf = (id: number) => view.row("readFloors", [floorKinds.conversation, id, userId]);
  const former = floorOf(from.id);
  if (former === undefined || floorOf(to.id) !== undefined) return null;
  return { ...former, upTo: Math.min(former.upTo, upToId) };
}
