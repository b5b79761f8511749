/**
 * Delivers due scheduled messages, as if the author sent them now, and due reminders, as messages of the notification
 * bot (M3, M8). One nested transaction removes the timer and the row and posts the message, so a crash cannot separate
 * them, and an edit or deletion is decided either before or after it (M7).
 */
import { parseMessage } from "../../domain/message-content.ts";
import type { View } from "../../domain/view.ts";
import { type Command, done, effects, type Outcome } from "../protocol/decision.ts";
import { botDirectMessage } from "../rules/notification-bot.ts";
import { failedReminder, remindersEvent, reminderText } from "../rules/reminders.ts";
import { failureEffects, postOf, scheduledMessagesEvent } from "../rules/scheduled-messages.ts";
import type { TopicContext } from "./context.ts";
import { postNow } from "./messages.ts";

function deliverScheduledMessage(
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

function deliverReminder(
  context: TopicContext,
  { params: { userId, id } }: Command<"reminders.due">,
  view: View,
): Outcome<TopicContext> {
  const row = view.row("reminders", [userId, id]);
  const person = view.users.get(userId);
  if (row === undefined || row.timer === null || person === undefined) return done({}, []);
  const post = botDirectMessage(userId, reminderText(view, person, row), { mentionsAs: userId });
  const outcome = postNow(context, post, view);
  // A deactivated user gets no messages.
  if (outcome.kind === "refused") return done({}, failedReminder(row));
  const ended = [effects.remove("reminders", [userId, id]), remindersEvent(userId, { op: "remove", reminder_id: id })];
  return done({}, [...outcome.effects, ...ended], outcome.context, outcome.to);
}

export const scheduledDeliveryDecisions = {
  "scheduled-messages.due": deliverScheduledMessage,
  "reminders.due": deliverReminder,
} as const;
