/**
 * Delivers a due reminder as a message of the notification bot (M3, M8). Removing the timer and the row and posting the
 * message are atomic.
 */
import type { View } from "../../domain/view.ts";
import type { Command } from "../protocol/commands.ts";
import { done, type Outcome } from "../protocol/decide.ts";
import { effects } from "../protocol/effects.ts";
import { botDirectMessage } from "../rules/notification-bot.ts";
import { failureEffects, remindersEvent, reminderText } from "../rules/reminders.ts";
import type { TopicContext } from "./context.ts";
import { postNow } from "./messages.ts";

export function deliverReminder(
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
  if (outcome.kind === "refused") return done({}, failureEffects(row));
  const ended = [effects.remove("reminders", [userId, id]), remindersEvent(userId, { op: "remove", reminder_id: id })];
  return done({}, [...outcome.effects, ...ended], outcome.context, outcome.to);
}

export const reminderDeliveryDecisions = {
  "reminders.due": deliverReminder,
} as const;
