/**
 * The decisions of a scheduled message (scheduled-message-machine.ts). A change is checked as a whole, as if the
 * message were sent now: the post is decided and the result discarded.
 */

import { resolveContent } from "../../domain/markdown/resolve.ts";
import { mentionResolver } from "../../domain/mention-resolver.ts";
import { parseMessage } from "../../domain/message-content.ts";
import { type ChannelAddress, channelAddress, type DirectAddress, directAddress } from "../../domain/post-address.ts";
import { scheduledMessageBody } from "../../domain/scheduled-messages.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import type { ParsedText, ScheduledMessageRecord } from "../../schemas/scheduled-messages.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Command, command, done, type Effect, effects, type Outcome } from "../protocol/decision.ts";
import type { RecordContext } from "../protocol/record-machines.ts";
import { addressOf, failed, failureEffects, postOf, scheduledMessagesEvent } from "../rules/scheduled-messages.ts";
import { cancelTimer, nextTimer } from "../rules/timers.ts";
import { contextAt } from "../topic/context.ts";
import { postNow } from "../topic/messages.ts";

export interface ScheduledMessageContext extends RecordContext<ScheduledMessageRecord> {
  readonly author: UserRecord;
}

/** Changes the passed values. */
export function updatePending(
  context: ScheduledMessageContext,
  request: Command<"scheduled-messages.update">,
  view: View,
): Outcome<ScheduledMessageContext> {
  return update(context, request.params, request.params.dueAt ?? context.row.dueAt, view);
}

/** A failed message needs a new time, and is scheduled again. */
export function updateFailed(
  context: ScheduledMessageContext,
  request: Command<"scheduled-messages.update">,
  view: View,
): Outcome<ScheduledMessageContext> {
  const { dueAt } = request.params;
  return dueAt === null ? refuse.deliveryNotInFuture() : update(context, request.params, dueAt, view);
}

type Change = Command<"scheduled-messages.update">["params"];

function update(
  { row: before, author }: ScheduledMessageContext,
  change: Change,
  dueAt: number,
  view: View,
): Outcome<ScheduledMessageContext> {
  if (change.dueAt !== null && change.dueAt <= view.now) return refuse.deliveryNotInFuture();
  const address = newAddress(view, author, before, change);
  if (isRefusal(address)) return address;
  const { content, client } = change;
  const siteUrl = content === null ? before.siteUrl : change.siteUrl;
  const text = content ?? { text: before.content, parsed: parseMessage(view, author, before.content, siteUrl) };
  const fields = { ...before, ...destinationOf(address), siteUrl, client, dueAt, timer: nextTimer(view) };
  const row = checked(view, author, text, fields);
  if (isRefusal(row)) return row;
  const body = scheduledMessageBody(row);
  if (JSON.stringify(body) === JSON.stringify(scheduledMessageBody(before))) return done({}, []);
  const event = scheduledMessagesEvent(author.id, { op: "update", scheduled_message: body });
  return done({}, [...cancelTimer(before), ...waitingEffects(row), event], { row }, "pending");
}

export function remove(
  { row, author }: ScheduledMessageContext,
  _asked: Command<"scheduled-messages.remove">,
): Outcome<ScheduledMessageContext> {
  return done({}, [
    ...cancelTimer(row),
    effects.remove("scheduledMessages", [author.id, row.id]),
    scheduledMessagesEvent(author.id, { op: "remove", scheduled_message_id: row.id }),
  ]);
}

/** Every attempt to deliver it threw (M6): the message is kept and not retried. An edit has set another timer. */
export function giveUp(
  { row }: ScheduledMessageContext,
  { params }: Command<"scheduled-messages.give-up">,
  view: View,
): Outcome<ScheduledMessageContext> {
  if (row.timer !== params.timer) return done({}, []);
  return done({}, failureEffects(view, row, refuse.internalError().msg), { row: failed(row) }, "failed");
}

type Place = Pick<ScheduledMessageRecord, "channelId" | "topic" | "userIds">;

export function destinationOf(address: ChannelAddress | DirectAddress): Place {
  return address.actor === "direct"
    ? { channelId: null, topic: "", userIds: address.userIds }
    : { channelId: address.channelId, topic: address.topic, userIds: null };
}

/** Direct messages ignore the topic. */
function newAddress(
  view: View,
  user: UserRecord,
  before: ScheduledMessageRecord,
  { type, to, topic }: Change,
): ChannelAddress | DirectAddress | Refusal {
  const isToChannel = type === null ? before.channelId !== null : type === "channel";
  return isToChannel
    ? channelAddress(view, user, to ?? before.channelId ?? [], topic ?? before.topic)
    : directAddress(view, user, to ?? before.userIds ?? []);
}

/** The row if its message could be sent now, otherwise the refusal. */
export function checked(
  view: View,
  user: UserRecord,
  { text, parsed }: ParsedText,
  fields: Omit<ScheduledMessageRecord, "content" | "rendered">,
): ScheduledMessageRecord | Refusal {
  const rendered = resolveContent(parsed, mentionResolver(view, user)).html;
  const row = { ...fields, content: text, rendered };
  const post = postOf(row, parsed);
  const outcome = postNow(contextAt(post.to, view), post, view);
  return outcome.kind === "refused" ? outcome : row;
}

export function waitingEffects(row: ScheduledMessageRecord): Effect[] {
  const { userId, id, dueAt, timer } = row;
  const due = command(addressOf(row), "scheduled-messages.due", { userId, id, timer: timer ?? 0 }, null);
  return [effects.put("scheduledMessages", [userId, id], row), effects.schedule(dueAt, due)];
}
