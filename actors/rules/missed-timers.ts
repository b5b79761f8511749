/**
 * Timers of a user's batch of missed messages (M8). Only the timer named in the row is valid; others are ignored when
 * they fire. No more timers are set than necessary (S3).
 */

import type { View } from "../../domain/view.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { MissedMessagesRecord } from "../../schemas/missed-messages.ts";
import { command } from "../protocol/commands.ts";
import { type Effect, effects } from "../protocol/effects.ts";

/** The row with a new due time, and a timer for it unless the current timer fires earlier and will check again. */
export function dueAgain(view: View, userId: UserId, row: MissedMessagesRecord, dueAt: number): Effect[] {
  const firesBefore = row.timerDueAt > view.now && row.timerDueAt <= dueAt;
  if (firesBefore) return [effects.put("missedMessages", userId, { ...row, dueAt })];
  return [effects.put("missedMessages", userId, { ...row, dueAt, timerDueAt: dueAt }), setTimer(userId, dueAt)];
}

export function setTimer(userId: UserId, at: number): Effect {
  return effects.schedule(at, command({ actor: "user", id: userId }, "missed-messages.due", { at }, null));
}

/**
 * Whether the batch has lost its timer because the timer's command became a dead letter (M6). The next message sets a
 * new one.
 */
export function hasLostTimer(view: View, row: MissedMessagesRecord): boolean {
  return row.messageIds.length > 0 && row.timerDueAt + limits.missed_timer_late_ms_max < view.now;
}
