/** Rows and events of what a person reads and marks (records/read-state.ts), for all decisions about it. */
import { type FloorKind, floorKinds } from "../../schemas/records/read-state.ts";
import type { ReadFloorRecord, ReadStateRecord } from "../../schemas/records.ts";
import { nothingMarked } from "../../src/domain/read-state.ts";
import type { View } from "../../src/domain/view.ts";
import { type Effect, effects } from "../effects.ts";

/** The person's summary after rows about messages up to `newest`; nothing where it says so already. */
export function noteMarks(
  view: View,
  userId: number,
  { newest, ...change }: { readonly newest: number } & Partial<Omit<ReadStateRecord, "newest">>,
): Effect[] {
  const before = view.row("readStates", userId) ?? nothingMarked;
  const after = { ...before, ...change, newest: Math.max(before.newest, newest) };
  const isSame = (Object.keys(after) as (keyof ReadStateRecord)[]).every((name) => after[name] === before[name]);
  return isSame ? [] : [effects.put("readStates", userId, after)];
}

export function putFloor(kind: FloorKind, placeId: number, userId: number, floor: ReadFloorRecord): Effect {
  return effects.put("readFloors", [floorKinds[kind], placeId, userId], floor);
}

/** The number of what is being decided: later than that of every mark before. Whoever writes it takes it, by `takeMark`. */
export function nextMark(view: View): number {
  return view.counter("readMark") + 1;
}

export function takeMark(view: View): Effect {
  return effects.count("readMark", nextMark(view));
}

/** One new message is read from the beginning. */
export function readAtOnce(view: View, userId: number, messageId: number): Effect[] {
  return [
    takeMark(view),
    effects.put("readExceptions", [userId, messageId], { isRead: true, at: nextMark(view) }),
    ...noteMarks(view, userId, { newest: messageId }),
  ];
}

/** What was written in the channel until now is read: who comes back begins anew (architecture, Read state). */
export function readBeforeJoining(view: View, userId: number, channelId: number): Effect[] {
  const upTo = view.counter("message");
  return [
    takeMark(view),
    putFloor("channel", channelId, userId, { upTo, at: nextMark(view) }),
    ...noteMarks(view, userId, { newest: upTo }),
  ];
}

/** To the person alone (behaviour 4.4); `ids` ascending, at most `event_ids_per_piece_max`. None: nothing is told. */
export function flagEvents(userId: number, op: "add" | "remove", flag: string, ids: readonly number[]): Effect[] {
  if (ids.length === 0) return [];
  const body = { op, operation: op, flag, messages: ids, all: false };
  return [effects.emit("update_message_flags", body, { to: "users", ids: [userId] })];
}
