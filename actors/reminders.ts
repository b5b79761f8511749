/**
 * What a reminder says (meaning as on the public server). What its list shows is made when it is asked for and has none of the
 * message's words: those are quoted when it is delivered, as they are then, if the person may read them then (S1).
 */
import { limits } from "../schemas/limits.ts";
import type { MessageRecord, ReminderRecord, UserRecord } from "../schemas/records.ts";
import { canAccessUser, unknownName } from "../src/domain/people.ts";
import { canReadMessage } from "../src/domain/permissions.ts";
import { reminderBody } from "../src/domain/reminders.ts";
import { codePoints, truncate } from "../src/domain/text.ts";
import { concealer } from "../src/domain/unknown-people.ts";
import type { View } from "../src/domain/view.ts";
import { type Effect, effects } from "./effects.ts";
import { silently } from "./realm/notification-bot.ts";
import { messageLink } from "./topic/place-links.ts";

/** What the list shows. */
export function reminderSummary(view: View, message: MessageRecord, note: string): string {
  return [`You asked to be reminded of ${linkTo(view, message)}.`, ...noteLines(note)].join("\n\n");
}

/** What is delivered. */
export function reminderText(view: View, person: UserRecord, { messageId, note }: ReminderRecord): string {
  const message = view.row("messages", messageId);
  const said = noteLines(forReader(view, person, note));
  if (message === undefined || !canReadMessage(view, person, message)) {
    return ["You asked to be reminded of a message that you can no longer read.", ...said].join("\n\n");
  }
  const writer = view.users.get(message.senderId);
  const isKnown = writer !== undefined && canAccessUser(view, person, writer);
  const intro = `You asked to be reminded of ${linkTo(view, message)}.`;
  const head = [intro, ...said, `${isKnown ? silently(writer) : unknownName} wrote:\n`].join("\n\n");
  return head + quote(quotable(view, person, message), limits.message_code_points_max - codePoints(head));
}

export function tellReminders(userId: number, body: Readonly<Record<string, unknown>>): Effect {
  return effects.emit("reminders", body, { to: "users", ids: [userId] });
}

/** It could not be delivered. No event says so: for clients it goes and comes back. */
export function failureEffects(row: ReminderRecord): Effect[] {
  const failed = { ...row, timer: null };
  return [
    effects.put("reminders", [row.userId, row.id], failed),
    tellReminders(row.userId, { op: "remove", reminder_id: row.id }),
    tellReminders(row.userId, { op: "add", reminders: [reminderBody(failed)] }),
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

/** The message as the person is shown it. */
function quotable(view: View, person: UserRecord, { senderId, content }: MessageRecord): string {
  const source = { sender_id: senderId, content, content_type: "text/x-markdown" };
  return forReader(view, person, concealer(view, person)?.conceal(source).content ?? content);
}

/**
 * A restricted guest's own words come back from the bot: a name that is shown otherwise than it was typed would say that there is
 * somebody of that name. So none of them is a mention.
 */
function forReader(view: View, person: UserRecord, text: string): string {
  return concealer(view, person) === null ? text : text.replace(/@(_?)\*\*/g, "@$1\\*\\*");
}

const cutMark = "\n[message truncated]";

/** Quoted between marks that the text does not hold, and cut to what there is room for, in code points. */
function quote(text: string, room: number): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const marks = "`".repeat(longest + 1);
  const [open, close] = [`${marks}quote\n`, `\n${marks}`];
  const left = room - codePoints(open + close);
  const shown = codePoints(text) <= left ? text : truncate(text, Math.max(0, left - cutMark.length)) + cutMark;
  return open + shown + close;
}
