/** Reminders (public API: reminders): a person's own, of messages that they can read. Delivered in actors/topic/reminder-delivery.ts. */
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { parseContent, resolveContent } from "../../src/domain/markdown/render.ts";
import { mentionResolver } from "../../src/domain/mention-resolver.ts";
import { canReadMessage } from "../../src/domain/permissions.ts";
import { reminderBody } from "../../src/domain/reminders.ts";
import type { View } from "../../src/domain/view.ts";
import { type Command, command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";
import { botConversation } from "../realm/notification-bot.ts";
import { failureEffects, reminderSummary, tellReminders } from "../reminders.ts";
import { nextTimer, takeBack } from "../timers.ts";

export function addReminder(_context: unknown, asked: Command<"reminders.add">, view: View): Outcome {
  const user = callerOf(asked, view);
  if (user === null) return refuse.noSuchUser();
  const { messageId, dueAt, note } = asked.params;
  if (dueAt <= view.now) return refuse.deliveryNotInFuture();
  const message = view.row("messages", messageId);
  if (message === undefined || !canReadMessage(view, user, message)) return refuse.invalidMessage();
  const countMax = limits.reminders_per_user_max;
  const range = { start: [user.id], end: [user.id + 1], limit: countMax };
  if (view.keys("reminders", range).length >= countMax) return refuse.badRequest("Too many reminders");
  const content = reminderSummary(view, message, note);
  const parsed = parseContent(content, { linkifiers: [], translateEmoticons: false });
  const rendered = resolveContent(parsed, mentionResolver(view, user)).html;
  const [userId, id, timer] = [user.id, view.counter("reminder") + 1, nextTimer(view)];
  const row = { id, userId, messageId, note, content, rendered, dueAt, timer };
  return done({ reminder_id: id }, [
    effects.count("reminder", id),
    effects.put("reminders", [userId, id], row),
    effects.schedule(dueAt, command(botConversation(userId), "reminders.due", { userId, id }, null)),
    tellReminders(userId, { op: "add", reminders: [reminderBody(row)] }),
  ]);
}

export function removeReminder(_context: unknown, asked: Command<"reminders.remove">, view: View): Outcome {
  const user = callerOf(asked, view);
  if (user === null) return refuse.noSuchUser();
  const { id } = asked.params;
  const row = view.row("reminders", [user.id, id]);
  if (row === undefined) return refuse.notFound("Reminder does not exist");
  return done({}, [
    ...takeBack(row),
    effects.remove("reminders", [user.id, id]),
    tellReminders(user.id, { op: "remove", reminder_id: id }),
  ]);
}

/** Delivering it threw each time (M6): it is not lost, and not tried again. */
export function giveUpReminder(_context: unknown, { to, params }: Command<"reminders.give-up">, view: View): Outcome {
  const row = to.actor === "user" ? view.row("reminders", [to.id, params.id]) : undefined;
  return done({}, row === undefined || row.timer === null ? [] : failureEffects(row));
}
