/** A reminder is due: the notification bot writes it (M3, M8). The end of the timer, the end of the row and the post are one. */
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";
import { botDirectMessage } from "../realm/notification-bot.ts";
import { failureEffects, reminderText, tellReminders } from "../reminders.ts";
import type { TopicContext } from "./machine.ts";
import { postMessage } from "./messages.ts";

export function deliverReminder(
  context: TopicContext,
  { params: { userId, id } }: Command<"reminders.due">,
  view: View,
): Outcome<TopicContext> {
  const row = view.row("reminders", [userId, id]);
  const person = view.users.get(userId);
  if (row === undefined || row.timer === null || person === undefined) return done({}, []);
  const post = botDirectMessage(userId, reminderText(view, person, row), { mentionsAs: userId });
  const outcome = postMessage(context, post, view);
  // Who is deactivated gets no messages.
  if (outcome.kind === "refused") return done({}, failureEffects(row));
  const ended = [effects.remove("reminders", [userId, id]), tellReminders(userId, { op: "remove", reminder_id: id })];
  return done({}, [...outcome.effects, ...ended], outcome.context);
}
