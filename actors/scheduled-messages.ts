/** What scheduling a message and delivering it have in common: the post that it is to become, and how its failure is told. */
import type { ScheduledMessageRecord } from "../schemas/records.ts";
import type { ParsedContent } from "../src/domain/markdown/render.ts";
import { scheduledMessageBody } from "../src/domain/scheduled-messages.ts";
import type { View } from "../src/domain/view.ts";
import { type Address, type Command, command } from "./commands.ts";
import { type Effect, effects } from "./effects.ts";
import { botDirectMessage } from "./realm/notification-bot.ts";

export function addressOf({ channelId, topic, userIds }: ScheduledMessageRecord): Address {
  return channelId === null ? { actor: "direct", userIds: userIds ?? [] } : { actor: "topic", channelId, topic };
}

/** As if the writer sent it now: whoever decides about it decides by the rules of POST /messages. */
export function postOf(row: ScheduledMessageRecord, parsed: ParsedContent): Command<"message.post"> {
  const { content, client, isReadBySender } = row;
  const post = { content, parsed, client, queueId: null, localId: null, isReadBySender };
  return command(addressOf(row), "message.post", post, row.userId);
}

/** It could not be posted: it stays, marked, and its writer is told why. Who is deactivated is told nothing. */
export function failureEffects(view: View, row: ScheduledMessageRecord, reason: string): Effect[] {
  const failed = { ...row, timer: null };
  const notice = effects.tell(botDirectMessage(row.userId, failureNotice(row, reason)));
  return [
    effects.put("scheduledMessages", [row.userId, row.id], failed),
    tellScheduled(row.userId, { op: "update", scheduled_message: scheduledMessageBody(failed) }),
    ...(view.users.get(row.userId)?.isActive === true ? [notice] : []),
  ];
}

export function tellScheduled(userId: number, body: Readonly<Record<string, unknown>>): Effect {
  return effects.emit("scheduled_messages", body, { to: "users", ids: [userId] });
}

function failureNotice({ dueAt }: ScheduledMessageRecord, reason: string): string {
  const time = `<time:${new Date(dueAt).toISOString()}>`;
  return `Your message that was scheduled for ${time} has not been sent, because of this error:\n\n> ${reason}\n\n[Scheduled messages](#scheduled)`;
}
