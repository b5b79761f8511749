/**
 * The request sent to an outgoing webhook's receiver (spec 6; behaviour 10), in our own format or Slack's. It is built
 * when it is sent, so its content is current. Messages that the bot cannot read are not sent (S1).
 */

import { botAddress, botDomain } from "../../domain/bots.ts";
import { canReadMessage } from "../../domain/permissions.ts";
import { seconds } from "../../domain/presence.ts";
import { redactor } from "../../domain/redaction.ts";
import { planFor } from "../../domain/redaction-plan.ts";
import type { View } from "../../domain/view.ts";
import { type BotServiceRecord, botTypes, webhookInterfaces } from "../../schemas/bots.ts";
import type { ResultOf } from "../../schemas/endpoint.ts";
import { reactionTypes } from "../../schemas/event-values.ts";
import type { ConversationRecord, MessageRecord } from "../../schemas/messages.ts";
import type { UserRecord } from "../../schemas/users.ts";
import {
  type serviceOutgoingWebhook,
  type WebhookDeliveryRecord,
  type WebhookFailure,
  WebhookMessage,
  type WebhookRequest,
  webhookTriggers,
} from "../../schemas/webhooks.ts";
import { hiddenOrigins } from "./message-history.ts";
import { type MessageOptions, messageIn, newestReceived } from "./messages.ts";

/** null: there is nothing to send any more. A failure: the message can never be sent. */
export function webhookRequest(view: View, row: WebhookDeliveryRecord): WebhookRequest | WebhookFailure | null {
  const bot = view.users.get(row.botId);
  const service = view.row("botServices", row.botId);
  const message = view.row("messages", row.messageId);
  if (bot?.isActive !== true || service === undefined || message === undefined) return null;
  const conversation = view.row("conversations", message.conversationId);
  if (conversation === undefined || !canReadMessage(view, bot, message)) return null;
  const { payloadUrl: url, interfaceType } = service;
  const called = { bot, token: service.token, message, conversation, trigger: row.trigger };
  if (interfaceType === webhookInterfaces.slack) {
    if (conversation.userIds !== null) return "slack-direct";
    const body = new URLSearchParams(slackFields(view, called)).toString();
    return { url, contentType: "application/x-www-form-urlencoded", body, interfaceType };
  }
  return { url, contentType: "application/json", body: JSON.stringify(payloadOf(view, called)), interfaceType };
}

interface Called {
  readonly bot: UserRecord;
  readonly token: string;
  readonly message: MessageRecord;
  readonly conversation: ConversationRecord;
  readonly trigger: string;
}

const shape: MessageOptions = {
  applyMarkdown: false,
  clientGravatar: false,
  allowEmptyTopicName: true,
  extraEmojiType: reactionTypes.extra,
};

const plan = planFor(WebhookMessage);
type PayloadMessage = ResultOf<typeof serviceOutgoingWebhook>["message"];

/** The message object without flags (spec 6), redacted for the bot. */
function messageFor(view: View, { bot, message, conversation }: Called): PayloadMessage {
  const hidden = hiddenOrigins(view, bot, message);
  const found = messageIn(view, conversation, message, shape, hidden);
  // The sender and the channel of a message always exist.
  const body = { ...found, rendered_content: message.rendered } as PayloadMessage;
  return redactor(view, bot)?.follow(body, plan) ?? body;
}

/** The payload of spec 6. */
function payloadOf(view: View, called: Called) {
  const { bot, token, trigger } = called;
  const message = messageFor(view, called);
  return { bot_email: bot.email, bot_full_name: bot.fullName, data: message.content, trigger, token, message };
}

/** Fields named as in Slack's outgoing webhooks; ids have Slack's letter prefixes. */
function slackFields(view: View, called: Called): Record<string, string> {
  const { bot, token, trigger } = called;
  const message = messageFor(view, called);
  const sentAt = String(seconds(called.message.sentAt));
  return {
    token,
    team_id: `T${view.realm.id}`,
    team_domain: view.realm.label,
    channel_id: `C${message.stream_id}`,
    channel_name: String(message.display_recipient),
    thread_ts: sentAt,
    timestamp: sentAt,
    user_id: `U${called.message.senderId}`,
    user_name: String(message.sender_full_name),
    text: String(message.content),
    trigger_word: trigger,
    service_id: String(bot.id),
  };
}

const exampleToken = "0".repeat(32);

/**
 * Example payload for a message of the caller (spec 4.21; D23): the newest message they received, or an invented one;
 * from a bot of theirs, or from an invented one.
 * @param siteUrl the server's URL as used by the caller
 */
export function representativePayload(view: View, caller: UserRecord, siteUrl: string) {
  const own = ownWebhook(view, caller);
  const bot = own === null ? exampleBot(caller, siteUrl) : own.bot;
  const newest = view.row("messages", newestReceived(view, caller));
  const conversation = newest === undefined ? undefined : view.row("conversations", newest.conversationId);
  const isReadable = newest !== undefined && conversation !== undefined && canReadMessage(view, caller, newest);
  const place = isReadable ? { message: newest, conversation } : exampleMessage(view, caller, bot);
  const trigger = place.conversation.userIds === null ? webhookTriggers.mention : webhookTriggers.direct;
  // The message is redacted for the caller.
  const token = own?.service.token ?? exampleToken;
  const message = messageFor(view, { ...place, bot: caller, token, trigger });
  return { bot_email: bot.email, bot_full_name: bot.fullName, data: message.content, trigger, token, message };
}

/** The caller if it is such a bot, otherwise the caller's oldest active one. */
function ownWebhook(view: View, caller: UserRecord): { bot: UserRecord; service: BotServiceRecord } | null {
  const ids = [caller.id, ...[...view.bots.ofOwner(caller.id)].sort((a, b) => a - b)];
  for (const bot of ids.flatMap((id) => view.users.get(id) ?? [])) {
    const service = view.row("botServices", bot.id);
    if (bot.botType === botTypes.outgoingWebhook && bot.isActive && service !== undefined) return { bot, service };
  }
  return null;
}

function exampleBot(caller: UserRecord, siteUrl: string): UserRecord {
  const email = botAddress("outgoing-webhook", botDomain(siteUrl)) ?? "";
  return { ...caller, email, fullName: "Outgoing webhook", botType: botTypes.outgoingWebhook, botOwnerId: caller.id };
}

function exampleMessage(view: View, caller: UserRecord, bot: UserRecord) {
  const text = `Hello, ${bot.botOwnerId === caller.id ? "bot" : "you"}!`;
  const message: MessageRecord = {
    id: 0,
    conversationId: 0,
    senderId: caller.id,
    sentAt: view.now,
    content: text,
    rendered: `<p>${text}</p>`,
    client: "website",
    traits: 0,
    mentionedUserIds: [],
    mentionedGroupIds: [],
    editedAt: null,
    moves: [],
  };
  const conversation: ConversationRecord = {
    id: 0,
    state: "open",
    version: 1,
    channelId: null,
    topic: "",
    userIds: [caller.id],
    lastMessageId: 0,
    renames: 0,
    movingId: null,
  };
  return { message, conversation };
}
