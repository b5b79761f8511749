/**
 * Delivers a due scheduled message; its conversation decides as if the author sent it now (M3, M8). One nested
 * transaction removes the timer and the row and posts the message, so a crash cannot separate them, and an edit or
 * deletion is decided either before or after it (M7).
 */
import { parseMessage } from "../../domain/message-content.ts";
import type { View } from "../../domain/view.ts";
import type { Command } from "../protocol/commands.ts";
import { done, type Outcome } from "../protocol/decide.ts";
import { effects } from "../protocol/effects.ts";
import { failureEffects, postOf, scheduledMessagesEvent } from "../rules/scheduled-messages.ts";
import type { TopicContext } from "./context.ts";
import { postNow } from "./messages.ts";

export function deliverScheduledMessage(
  context: TopicContext,
  { params: { userId, id, timer } }: Command<"scheduled-messages.due">,
  view: View,
): Outcome<TopicContext> {
  const row = view.row("scheduledMessages", [userId, id]);
  const writer = view.users.get(userId);
  // The message was deleted, or edited and has another timer.
  if (row === undefined || row.timer !== timer || writer === undefined) return done({}, []);
  const post = postOf(row, parseMessage(view, writer, row.content, row.siteUrl));
  const outcome = postNow(context, post, view);
  if (outcome.kind === "refused") return done({}, failureEffects(view, row, outcome.msg));
  const ended = [
    effects.remove("scheduledMessages", [userId, id]),
    scheduledMessagesEvent(userId, { op: "remove", scheduled_message_id: id }),
  ];
  return done({}, [...outcome.effects, ...ended], outcome.context, outcome.to);
}

export const scheduledDeliveryDecisions = {
  "scheduled-messages.due": deliverScheduledMessage,
} as const;
