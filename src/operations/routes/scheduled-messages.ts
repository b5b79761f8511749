/** Scheduled messages (public API: get, create, update and delete). Content is parsed before the turn. */
import { command } from "../../../actors/protocol/decision.ts";
import { parseMessage, readContent } from "../../../domain/message-content.ts";
import { scheduledMessageBody, scheduledMessagesOf } from "../../../domain/scheduled-messages.ts";
import type { View } from "../../../domain/view.ts";
import { isRefusal, refuse } from "../../../schemas/errors.ts";
import {
  createScheduledMessage,
  deleteScheduledMessage,
  getScheduledMessages,
  updateScheduledMessage,
} from "../../../schemas/scheduled-messages.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { Section } from "../../queries/state-section.ts";
import { ok } from "../../runtime/results.ts";
import { bind, type Call, requireCaller } from "../calls.ts";
import { isReadingClient } from "../identity/client-name.ts";

/** The next one due comes first. */
function listScheduledMessages(view: View, user: UserRecord) {
  return scheduledMessagesOf(view, user.id).map(scheduledMessageBody);
}

export const scheduledMessagesState: Section<"scheduled_messages"> = (view, user) => ({
  scheduled_messages: listScheduledMessages(view, user),
});

export const scheduledMessageRoutes = [
  bind(getScheduledMessages, (call) =>
    ok({ scheduled_messages: listScheduledMessages(call.realm.view, requireCaller(call)) }),
  ),

  bind(createScheduledMessage, (call) => {
    const { params, client, siteUrl } = call;
    const content = parsed(call, params.content);
    if (isRefusal(content)) return content;
    const input = {
      type: typeOf(params.type),
      to: params.to,
      topic: params.topic ?? null,
      content,
      dueAt: params.scheduled_delivery_timestamp * 1000,
      client,
      siteUrl,
      isReadBySender: params.read_by_sender ?? null,
      isReadingClient: isReadingClient(client),
    };
    return call.realm.dispatcher.ask(
      command(self(call), "scheduled-messages.add", input, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(updateScheduledMessage, (call) => {
    const { client, siteUrl } = call;
    const { scheduled_message_id: id, type, to, topic, content: raw, scheduled_delivery_timestamp: at } = call.params;
    if ([type, to, topic, raw, at].every((value) => value === undefined)) return refuse.badRequest("Nothing to change");
    if (type !== undefined && to === undefined) {
      return refuse.badRequest("Recipient required when updating type of scheduled message.");
    }
    if (type !== undefined && typeOf(type) === "channel" && topic === undefined) {
      return refuse.badRequest("Topic required when updating scheduled message type to channel.");
    }
    const content = raw === undefined ? null : parsed(call, raw);
    if (isRefusal(content)) return content;
    const update = {
      id,
      type: type === undefined ? null : typeOf(type),
      to: to ?? null,
      topic: topic ?? null,
      content,
      dueAt: at === undefined ? null : at * 1000,
      client,
      siteUrl,
    };
    return call.realm.dispatcher.ask(
      command(self(call), "scheduled-messages.update", update, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(deleteScheduledMessage, (call) => {
    const params = { id: call.params.scheduled_message_id };
    return call.realm.dispatcher.ask(
      command(self(call), "scheduled-messages.remove", params, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),
];

function self(call: Call) {
  return { actor: "user", id: requireCaller(call).id } as const;
}

function typeOf(type: string): "channel" | "direct" {
  return type === "channel" || type === "stream" ? "channel" : "direct";
}

function parsed(call: Call, raw: string) {
  const text = readContent(raw);
  if (typeof text !== "string") return text;
  return { text, parsed: parseMessage(call.realm.view, requireCaller(call), text, call.siteUrl) };
}
