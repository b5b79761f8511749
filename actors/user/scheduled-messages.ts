/**
 * Scheduled messages (public API: scheduled_messages): a person's own. What may be scheduled is what may be sent now: the
 * decision about the post is made and thrown away. It is made again when the message is due (actors/topic/scheduled-delivery.ts).
 */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { ScheduledMessageRecord, UserRecord } from "../../schemas/records.ts";
import { resolveContent } from "../../src/domain/markdown/resolve.ts";
import { mentionResolver } from "../../src/domain/mention-resolver.ts";
import { parseMessage } from "../../src/domain/message-content.ts";
import {
  type ChannelAddress,
  channelAddress,
  type DirectAddress,
  directAddress,
} from "../../src/domain/post-address.ts";
import { scheduledMessageBody } from "../../src/domain/scheduled-messages.ts";
import type { View } from "../../src/domain/view.ts";
import type { ParsedText } from "../commands/scheduled.ts";
import { type Command, command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { addressOf, failureEffects, postOf, tellScheduled } from "../scheduled-messages.ts";
import { nextTimer, takeBack } from "../timers.ts";
import { contextAt } from "../topic/context.ts";
import { postMessage } from "../topic/messages.ts";

export function addScheduledMessage(_context: unknown, asked: Command<"scheduled-messages.add">, view: View): Outcome {
  const user = callerOf(asked, view);
  if (user === null) return refuse.noSuchUser();
  const { type, to, topic, content, dueAt, client, siteUrl } = asked.params;
  if (dueAt <= view.now) return refuse.deliveryNotInFuture();
  const address =
    type === "channel" ? channelAddress(view, user, to, topic ?? undefined) : directAddress(view, user, to);
  if ("kind" in address) return address;
  const countMax = limits.scheduled_messages_per_user_max;
  const range = { start: [user.id], end: [user.id + 1], limit: countMax };
  if (view.keys("scheduledMessages", range).length >= countMax) return refuse.badRequest("Too many scheduled messages");
  const isToOneself = address.actor === "direct" && address.userIds.length === 1;
  const row = checked(view, user, content, {
    id: view.counter("scheduledMessage") + 1,
    userId: user.id,
    ...placeOf(address),
    siteUrl,
    client,
    isReadBySender: asked.params.isReadBySender ?? (asked.params.isReadingClient && !isToOneself),
    dueAt,
    timer: nextTimer(view),
  });
  if ("kind" in row) return row;
  return done({ scheduled_message_id: row.id }, [
    effects.count("scheduledMessage", row.id),
    ...waitingEffects(row),
    tellScheduled(user.id, { op: "add", scheduled_messages: [scheduledMessageBody(row)] }),
  ]);
}

/** What is passed changes; the whole is checked again. One that failed needs a new time, and waits again. */
export function updateScheduledMessage(
  _context: unknown,
  asked: Command<"scheduled-messages.update">,
  view: View,
): Outcome {
  const user = callerOf(asked, view);
  if (user === null) return refuse.noSuchUser();
  const { id, content, dueAt, client, siteUrl } = asked.params;
  const before = view.row("scheduledMessages", [user.id, id]);
  if (before === undefined) return doesNotExist();
  if (dueAt === null ? before.timer === null : dueAt <= view.now) return refuse.deliveryNotInFuture();
  const address = newAddress(view, user, before, asked.params);
  if ("kind" in address) return address;
  const url = content === null ? before.siteUrl : siteUrl;
  const text = content ?? { text: before.content, parsed: parseMessage(view, user, before.content, url) };
  const row = checked(view, user, text, {
    ...before,
    ...placeOf(address),
    siteUrl: url,
    client,
    dueAt: dueAt ?? before.dueAt,
    timer: nextTimer(view),
  });
  if ("kind" in row) return row;
  const body = scheduledMessageBody(row);
  if (JSON.stringify(body) === JSON.stringify(scheduledMessageBody(before))) return done({}, []);
  return done({}, [
    ...takeBack(before),
    ...waitingEffects(row),
    tellScheduled(user.id, { op: "update", scheduled_message: body }),
  ]);
}

export function removeScheduledMessage(
  _context: unknown,
  asked: Command<"scheduled-messages.remove">,
  view: View,
): Outcome {
  const user = callerOf(asked, view);
  if (user === null) return refuse.noSuchUser();
  const { id } = asked.params;
  const row = view.row("scheduledMessages", [user.id, id]);
  if (row === undefined) return doesNotExist();
  return done({}, [
    ...takeBack(row),
    effects.remove("scheduledMessages", [user.id, id]),
    tellScheduled(user.id, { op: "remove", scheduled_message_id: id }),
  ]);
}

/** Delivering it threw each time (M6): it is not lost, and not tried again. */
export function giveUpScheduledMessage(
  _context: unknown,
  { to, params }: Command<"scheduled-messages.give-up">,
  view: View,
): Outcome {
  const row = to.actor === "user" ? view.row("scheduledMessages", [to.id, params.id]) : undefined;
  if (row === undefined || row.timer !== params.timer) return done({}, []);
  return done({}, failureEffects(view, row, refuse.internalError().msg));
}

const doesNotExist = () => refuse.notFound("Scheduled message does not exist");

type Place = Pick<ScheduledMessageRecord, "channelId" | "topic" | "userIds">;

function placeOf(address: ChannelAddress | DirectAddress): Place {
  return address.actor === "direct"
    ? { channelId: null, topic: "", userIds: address.userIds }
    : { channelId: address.channelId, topic: address.topic, userIds: null };
}

/** A topic is a channel's: of a direct message it is ignored. */
function newAddress(
  view: View,
  user: UserRecord,
  before: ScheduledMessageRecord,
  { type, to, topic }: Command<"scheduled-messages.update">["params"],
): ChannelAddress | DirectAddress | Refusal {
  const isToChannel = type === null ? before.channelId !== null : type === "channel";
  return isToChannel
    ? channelAddress(view, user, to ?? before.channelId ?? [], topic ?? before.topic)
    : directAddress(view, user, to ?? before.userIds ?? []);
}

/** The row, if its message could be sent now; else why it could not. */
function checked(
  view: View,
  user: UserRecord,
  { text, parsed }: ParsedText,
  fields: Omit<ScheduledMessageRecord, "content" | "rendered">,
): ScheduledMessageRecord | Refusal {
  const rendered = resolveContent(parsed, mentionResolver(view, user)).html;
  const row = { ...fields, content: text, rendered };
  const post = postOf(row, parsed);
  const outcome = postMessage(contextAt(post.to, view), post, view);
  return outcome.kind === "refused" ? outcome : row;
}

function waitingEffects(row: ScheduledMessageRecord): Effect[] {
  const { userId, id, dueAt, timer } = row;
  const due = command(addressOf(row), "scheduled-messages.due", { userId, id, timer: timer ?? 0 }, null);
  return [effects.put("scheduledMessages", [userId, id], row), effects.schedule(dueAt, due)];
}
