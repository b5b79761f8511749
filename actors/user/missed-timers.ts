/**
 * When a person's batch of missed messages is looked at (M8). One timer counts, the one that the row names: those that the row no
 * longer names ring for nothing, and no more are set than are needed (S3).
 */
import { limits } from "../../schemas/limits.ts";
import type { MissedMessagesRecord } from "../../schemas/records.ts";
import type { View } from "../../src/domain/view.ts";
import { command } from "../commands.ts";
import { type Effect, effects } from "../effects.ts";

/** The row with another due time, and the timer for it, unless one that counts rings before and looks again. */
export function dueAgain(view: View, userId: number, row: MissedMessagesRecord, dueAt: number): Effect[] {
  const ringsBefore = row.ringsAt > view.now && row.ringsAt <= dueAt;
  if (ringsBefore) return [effects.put("missedMessages", userId, { ...row, dueAt })];
  return [effects.put("missedMessages", userId, { ...row, dueAt, ringsAt: dueAt }), ring(userId, dueAt)];
}

export function ring(userId: number, at: number): Effect {
  return effects.schedule(at, command({ actor: "user", id: userId }, "missed-messages.due", { at }, null));
}

/** Whether the batch's timer is lost: its command threw too often (M6). The next message sets another. */
export function isForgotten(view: View, row: MissedMessagesRecord): boolean {
  return row.messageIds.length > 0 && row.ringsAt + limits.missed_ring_late_ms_max < view.now;
}
