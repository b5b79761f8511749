/**
 * Reminders (public API: reminders): a user's own, about messages they can read. Delivered by
 * actors/topic/scheduled-delivery.ts.
 */

import { parseContent, resolveContent } from "../../domain/markdown/render.ts";
import { mentionResolver } from "../../domain/mention-resolver.ts";
import { canReadMessage } from "../../domain/permissions.ts";
import { reminderBody } from "../../domain/reminders.ts";
import { checkLines } from "../../domain/text.ts";
import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import {
  type Command,
  command,
  done,
  effects,
  forServer,
  forUser,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";
import { botConversation } from "../rules/notification-bot.ts";
import { failedReminder, reminderSummary, remindersEvent } from "../rules/reminders.ts";
import { cancelTimer, nextTimer } from "../rules/timers.ts";

export function addReminder(
  user: UserRecord,
  { messageId, dueAt, note }: Params<"reminders.add">,
  view: View,
): Outcome {
  if (dueAt <= view.now) return refuse.deliveryNotInFuture();
  const badText = checkLines("note", note);
  if (badText !== null) return badText;
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
    effects.setCounter("reminder", id),
    effects.put("reminders", [userId, id], row),
    effects.schedule(dueAt, command(botConversation(userId), "reminders.due", { userId, id }, null)),
    remindersEvent(userId, { op: "add", reminders: [reminderBody(row)] }),
  ]);
}

export function removeReminder(user: UserRecord, { id }: Params<"reminders.remove">, view: View): Outcome {
  const row = view.row("reminders", [user.id, id]);
  if (row === undefined) return refuse.notFound("Reminder does not exist");
  return done({}, [
    ...cancelTimer(row),
    effects.remove("reminders", [user.id, id]),
    remindersEvent(user.id, { op: "remove", reminder_id: id }),
  ]);
}

/** Every attempt to deliver it threw (M6): the reminder is kept and not retried. */
export function giveUpReminder(
  { id }: Params<"reminders.give-up">,
  view: View,
  { to }: Command<"reminders.give-up">,
): Outcome {
  const row = to.actor === "user" ? view.row("reminders", [to.id, id]) : undefined;
  return done({}, row === undefined || row.timer === null ? [] : failedReminder(row));
}

export const remindersDecisions = {
  "reminders.add": forUser(addReminder),
  "reminders.remove": forUser(removeReminder),
  "reminders.give-up": forServer(giveUpReminder),
} as const;
