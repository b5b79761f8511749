/**
 * A user's own scheduled messages (public API: scheduled_messages). A message may be scheduled if it could be sent now,
 * and the post is decided again when it is due (actors/topic/scheduled-delivery.ts). The message's machine decides
 * changes.
 */

import { channelAddress, directAddress } from "../../domain/post-address.ts";
import { scheduledMessageBody } from "../../domain/scheduled-messages.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Command, done, effects, forServer, forUser, type Outcome, type Params } from "../protocol/decision.ts";
import { decideRecord } from "../protocol/record-machines.ts";
import { scheduledMessagesEvent } from "../rules/scheduled-messages.ts";
import { nextTimer } from "../rules/timers.ts";
import { checked, destinationOf, waitingEffects } from "./scheduled-message-changes.ts";
import { scheduledMessages } from "./scheduled-message-machine.ts";

export function addScheduledMessage(user: UserRecord, params: Params<"scheduled-messages.add">, view: View): Outcome {
  const { type, to, topic, content, dueAt, client, siteUrl } = params;
  if (dueAt <= view.now) return refuse.deliveryNotInFuture();
  const address =
    type === "channel" ? channelAddress(view, user, to, topic ?? undefined) : directAddress(view, user, to);
  if (isRefusal(address)) return address;
  const countMax = limits.scheduled_messages_per_user_max;
  const range = { start: [user.id], end: [user.id + 1], limit: countMax };
  if (view.keys("scheduledMessages", range).length >= countMax) return refuse.badRequest("Too many scheduled messages");
  const isToOneself = address.actor === "direct" && address.userIds.length === 1;
  const row = checked(view, user, content, {
    id: view.counter("scheduledMessage") + 1,
    userId: user.id,
    ...destinationOf(address),
    siteUrl,
    client,
    isReadBySender: params.isReadBySender ?? (params.isReadingClient && !isToOneself),
    dueAt,
    timer: nextTimer(view),
  });
  if (isRefusal(row)) return row;
  return done({ scheduled_message_id: row.id }, [
    effects.setCounter("scheduledMessage", row.id),
    ...waitingEffects(row),
    scheduledMessagesEvent(user.id, { op: "add", scheduled_messages: [scheduledMessageBody(row)] }),
  ]);
}

/** PATCH and DELETE /scheduled_messages/{scheduled_message_id}. */
export function changeScheduledMessage(
  author: UserRecord,
  { id }: Params<"scheduled-messages.update" | "scheduled-messages.remove">,
  view: View,
  command: Command<"scheduled-messages.update"> | Command<"scheduled-messages.remove">,
): Outcome {
  const row = view.row("scheduledMessages", [author.id, id]);
  if (row === undefined) return refuse.notFound("Scheduled message does not exist");
  return decideRecord(scheduledMessages, { row, author }, command, view);
}

export function giveUpScheduledMessage(
  params: Params<"scheduled-messages.give-up">,
  view: View,
  command: Command<"scheduled-messages.give-up">,
): Outcome {
  const author = command.to.actor === "user" ? view.users.get(command.to.id) : undefined;
  const row = author === undefined ? undefined : view.row("scheduledMessages", [author.id, params.id]);
  if (author === undefined || row === undefined) return done({}, []);
  return decideRecord(scheduledMessages, { row, author }, command, view);
}

export const scheduledMessagesDecisions = {
  "scheduled-messages.add": forUser(addScheduledMessage),
  "scheduled-messages.update": forUser(changeScheduledMessage),
  "scheduled-messages.remove": forUser(changeScheduledMessage),
  "scheduled-messages.give-up": forServer(giveUpScheduledMessage),
} as const;
