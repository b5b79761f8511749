/** Shared by scheduling and delivering a message: the command that posts it, and the report of a failure. */

import { scheduledMessageBody } from "../../domain/scheduled-messages.ts";
import type { View } from "../../domain/view.ts";
import type { StoredBody } from "../../schemas/events.ts";
import type { UserId } from "../../schemas/ids.ts";
import type { ParsedContent } from "../../schemas/parsed-content.ts";
import type { ScheduledMessageRecord } from "../../schemas/scheduled-messages.ts";
import { type Address, type Command, command, type Effect, effects } from "../protocol/decision.ts";
import { botDirectMessage } from "./notification-bot.ts";

export function addressOf({ channelId, topic, userIds }: ScheduledMessageRecord): Address {
  return channelId === null ? { actor: "direct", userIds: userIds ?? [] } : { actor: "topic", channelId, topic };
}

/** The command that posts the message as if the user sent it now, by the rules of POST /messages. */
export function postOf(row: ScheduledMessageRecord, parsed: ParsedContent): Command<"message.post"> {
  const { content, client, isReadBySender } = row;
  const post = { content, parsed, client, queueId: null, localId: null, isReadBySender };
  return command(addressOf(row), "message.post", post, row.userId);
}

/**
 * The message could not be posted: it is kept and marked as failed, and its author gets a notice with the reason unless
 * the account is deactivated.
 */
export function failureEffects(view: View, row: ScheduledMessageRecord, reason: string): Effect[] {
  const after = failed(row);
  const notice = effects.send(botDirectMessage(row.userId, failureNotice(row, reason)));
  return [
    effects.put("scheduledMessages", [row.userId, row.id], after),
    scheduledMessagesEvent(row.userId, { op: "update", scheduled_message: scheduledMessageBody(after) }),
    ...(view.users.get(row.userId)?.isActive === true ? [notice] : []),
  ];
}

/** The row of a message that could not be posted: without a timer, until its author sets a new time. */
export function failed(row: ScheduledMessageRecord): ScheduledMessageRecord {
  return { ...row, timer: null };
}

export function scheduledMessagesEvent(userId: UserId, body: StoredBody<"scheduled_messages">): Effect {
  return effects.emit("scheduled_messages", body, { to: "users", ids: [userId] });
}

function failureNotice({ dueAt }: ScheduledMessageRecord, reason: string): string {
  const time = `<time:${new Date(dueAt).toISOString()}>`;
  return `Your message that was scheduled for ${time} has not been sent, because of this error:\n\n> ${reason}\n\n[Scheduled messages](#scheduled)`;
}
