/**
 * Texts of reminders (as on the public server). The list contains no message text. The delivered reminder quotes the
 * message as it is on delivery, if the user may read it then (S1).
 */

import { canAccessUser, unknownName } from "../../domain/people.ts";
import { canReadMessage } from "../../domain/permissions.ts";
import { redactor } from "../../domain/redaction.ts";
import { reminderBody } from "../../domain/reminders.ts";
import { codePoints, truncate } from "../../domain/text.ts";
import type { View } from "../../domain/view.ts";
import type { StoredBody } from "../../schemas/events.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { MessageRecord } from "../../schemas/messages.ts";
import type { ReminderRecord } from "../../schemas/reminders.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Effect, effects } from "../protocol/decision.ts";
import { silentMention } from "./notification-bot.ts";
import { messageLink } from "./topic-links.ts";

/** The text in the list of reminders. */
export function reminderSummary(view: View, message: MessageRecord, note: string): string {
  return [`You asked to be reminded of ${linkTo(view, message)}.`, ...noteLines(note)].join("\n\n");
}

/** The text that is delivered. */
export function reminderText(view: View, person: UserRecord, { messageId, note }: ReminderRecord): string {
  const message = view.row("messages", messageId);
  const lines = noteLines(forReader(view, person, note));
  if (message === undefined || !canReadMessage(view, person, message)) {
    return ["You asked to be reminded of a message that you can no longer read.", ...lines].join("\n\n");
  }
  const writer = view.users.get(message.senderId);
  const isKnown = writer !== undefined && canAccessUser(view, person, writer);
  const intro = `You asked to be reminded of ${linkTo(view, message)}.`;
  const head = [intro, ...lines, `${isKnown ? silentMention(writer) : unknownName} wrote:\n`].join("\n\n");
  return head + quote(quotable(view, person, message), limits.message_code_points_max - codePoints(head));
}

export function remindersEvent(userId: UserId, body: StoredBody<"reminders">): Effect {
  return effects.emit("reminders", body, { to: "users", ids: [userId] });
}

/** Events when a delivery failed. No event type exists for this, so clients receive a remove and an add. */
export function failedReminder(row: ReminderRecord): Effect[] {
  const failed = { ...row, timer: null };
  return [
    effects.put("reminders", [row.userId, row.id], failed),
    remindersEvent(row.userId, { op: "remove", reminder_id: row.id }),
    remindersEvent(row.userId, { op: "add", reminders: [reminderBody(failed)] }),
  ];
}

function noteLines(note: string): string[] {
  return note === "" ? [] : [`Note:\n${note.replace(/^/gm, "> ")}`];
}

function linkTo(view: View, { id, conversationId }: MessageRecord): string {
  const place = view.row("conversations", conversationId);
  if (place === undefined) return "a message";
  const { channelId, topic, userIds } = place;
  if (channelId !== null) return `a message in ${messageLink(view, { channelId, topic }, id)}`;
  return `[a direct message](#narrow/dm/${(userIds ?? []).join(",")}-dm/near/${id})`;
}

/** The message as this user sees it. */
function quotable(view: View, person: UserRecord, { senderId, content }: MessageRecord): string {
  return forReader(view, person, redactor(view, person)?.source(content, senderId) ?? content);
}

/**
 * The bot would repeat a restricted guest's own words. A mention that renders differently from what the guest typed
 * would reveal that a user of that name exists, so mentions are escaped.
 */
function forReader(view: View, person: UserRecord, text: string): string {
  return redactor(view, person) === null ? text : text.replace(/@(_?)\*\*/g, "@$1\\*\\*");
}

const cutMark = "\n[message truncated]";

/** Quotes the text in a fence longer than any run of backticks in it, and truncates it to `room` code points. */
function quote(text: string, room: number): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const marks = "`".repeat(longest + 1);
  const [open, close] = [`${marks}quote\n`, `\n${marks}`];
  const left = room - codePoints(open + close);
  const shown = codePoints(text) <= left ? text : truncate(text, Math.max(0, left - cutMark.length)) + cutMark;
  return open + shown + close;
}
