/** Rows and events for read state and flags (schemas/read-state.ts), shared by all decisions. */

import { nothingMarked } from "../../domain/read-state.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelId, MessageId, UserId } from "../../schemas/ids.ts";
import type { ChangeableFlag } from "../../schemas/message-flags.ts";
import {
  type ReadStateRecord,
  type ReadWatermarkRecord,
  type WatermarkKind,
  watermarkKinds,
} from "../../schemas/read-state.ts";
import { type Effect, effects } from "../protocol/decision.ts";

/** Updates the user's summary after changes up to message `newest`; nothing if it is unchanged. */
export function noteMarks(
  view: View,
  userId: UserId,
  { newest, ...change }: { readonly newest: number } & Partial<Omit<ReadStateRecord, "newest">>,
): Effect[] {
  const before = view.row("readStates", userId) ?? nothingMarked;
  const after = { ...before, ...change, newest: Math.max(before.newest, newest) };
  const isSame = (Object.keys(after) as (keyof ReadStateRecord)[]).every((name) => after[name] === before[name]);
  return isSame ? [] : [effects.put("readStates", userId, after)];
}

export function putWatermark(
  kind: WatermarkKind,
  placeId: number,
  userId: UserId,
  watermark: ReadWatermarkRecord,
): Effect {
  return effects.put("readWatermarks", [watermarkKinds[kind], placeId, userId], watermark);
}

/**
 * The sequence number of the current mark, higher than that of every earlier mark. A decision that stores it must also
 * emit `takeMark`.
 */
export function nextMark(view: View): number {
  return view.counter("readMark") + 1;
}

export function takeMark(view: View): Effect {
  return effects.setCounter("readMark", nextMark(view));
}

/** Marks one new message as read. */
export function readAtOnce(view: View, userId: UserId, messageId: MessageId): Effect[] {
  return [
    takeMark(view),
    effects.put("readExceptions", [userId, messageId], { isRead: true, at: nextMark(view) }),
    ...noteMarks(view, userId, { newest: messageId }),
  ];
}

/**
 * Marks everything posted in the channel so far as read, for a user who subscribes again (architecture, Read state).
 */
export function readBeforeJoining(view: View, userId: UserId, channelId: ChannelId): Effect[] {
  const upTo = view.counter("message");
  return [
    takeMark(view),
    putWatermark("channel", channelId, userId, { upTo, at: nextMark(view) }),
    ...noteMarks(view, userId, { newest: upTo }),
  ];
}

/**
 * For the user's own clients only (behaviour 4.4), or for those of several users with the same change. `ids` are
 * ascending and at most `event_ids_per_piece_max`; none: no event.
 */
export function flagEvents(
  userId: UserId | readonly number[],
  op: "add" | "remove",
  flag: ChangeableFlag,
  ids: readonly number[],
): Effect[] {
  if (ids.length === 0) return [];
  const body = { op, operation: op, flag, messages: ids, all: false };
  return [
    effects.emit("update_message_flags", body, { to: "users", ids: typeof userId === "number" ? [userId] : userId }),
  ];
}
