/** Scheduled messages (public API: get, create, update and delete): texts are read and parsed before the turn. */
import { command } from "../../../actors/commands.ts";
import { refuse } from "../../../schemas/errors.ts";
import {
  createScheduledMessage,
  deleteScheduledMessage,
  getScheduledMessages,
  updateScheduledMessage,
} from "../../../schemas/scheduled-messages.ts";
import { parseMessage, readContent } from "../../domain/message-content.ts";
import { listScheduledMessages } from "../../queries/scheduled-messages.ts";
import { bind, type Call, callerOf } from "../../runtime/calls.ts";
import { ok } from "../../runtime/entry.ts";
import { isReadingClient } from "../client-name.ts";

export const scheduledMessageRoutes = [
  bind(getScheduledMessages, (call) =>
    ok({ scheduled_messages: listScheduledMessages(call.realm.view, callerOf(call)) }),
  ),

  bind(createScheduledMessage, (call) => {
    const { params, client, siteUrl } = call;
    const content = parsed(call, params.content);
    if ("kind" in content) return content;
    const draft = {
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
    const asked = command(self(call), "scheduled-messages.add", draft, callerOf(call).id);
    return call.realm.dispatcher.ask(asked, call.claim);
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
    if (content !== null && "kind" in content) return content;
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
    const asked = command(self(call), "scheduled-messages.update", update, callerOf(call).id);
    return call.realm.dispatcher.ask(asked, call.claim);
  }),

  bind(deleteScheduledMessage, (call) => {
    const params = { id: call.params.scheduled_message_id };
    const asked = command(self(call), "scheduled-messages.remove", params, callerOf(call).id);
    return call.realm.dispatcher.ask(asked, call.claim);
  }),
];

function self(call: Call) {
  return { actor: "user", id: callerOf(call).id } as const;
}

function typeOf(type: string): "channel" | "direct" {
  return type === "channel" || type === "stream" ? "channel" : "direct";
}

function parsed(call: Call, raw: string) {
  const text = readContent(raw);
  if (typeof text !== "string") return text;
  return { text, parsed: parseMessage(call.realm.view, callerOf(call), text, call.siteUrl) };
}
