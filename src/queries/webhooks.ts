/**
 * What the receiver of an outgoing webhook bot is sent (spec 6; behaviour 10): in our own form or in Slack's, made when it is sent,
 * so that it says what is true then. What the bot could not read is not sent (S1).
 */
import { botTypes, webhookInterfaces } from "../../schemas/bots.ts";
import type {
  BotServiceRecord,
  ConversationRecord,
  MessageRecord,
  UserRecord,
  WebhookDeliveryRecord,
} from "../../schemas/records.ts";
import { reactionTypes } from "../../schemas/status.ts";
import { type WebhookFailure, type WebhookRequest, webhookTriggers } from "../../schemas/webhooks.ts";
import { botAddress, botDomain } from "../domain/bots.ts";
import { canReadMessage } from "../domain/permissions.ts";
import { seconds } from "../domain/presence.ts";
import { concealer } from "../domain/unknown-people.ts";
import type { View } from "../domain/view.ts";
import { hiddenOrigins } from "./message-history.ts";
import { type MessageOptions, messageIn, newestReceived } from "./messages.ts";

/** null: there is nothing to send any more. A failure: there never was. */
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

/** The message object without flags (spec 6), as the bot may be shown it. */
function messageFor(view: View, { bot, message, conversation }: Called): Readonly<Record<string, unknown>> {
  const hidden = hiddenOrigins(view, bot, message);
  const body = { ...messageIn(view, conversation, message, shape, hidden), rendered_content: message.rendered };
  return concealer(view, bot)?.conceal(body) ?? body;
}

/** The table of spec 6. */
function payloadOf(view: View, called: Called) {
  const { bot, token, trigger } = called;
  const message = messageFor(view, called);
  return { bot_email: bot.email, bot_full_name: bot.fullName, data: message["content"], trigger, token, message };
}

/** As Slack's outgoing webhooks name things; ids have the letters that tell kinds apart there. */
function slackFields(view: View, called: Called): Record<string, string> {
  const { bot, token, trigger } = called;
  const message = messageFor(view, called);
  const sentAt = String(seconds(called.message.sentAt));
  return {
    token,
    team_id: `T${view.realm.id}`,
    team_domain: view.realm.label,
    channel_id: `C${message["stream_id"]}`,
    channel_name: String(message["display_recipient"]),
    thread_ts: sentAt,
    timestamp: sentAt,
    user_id: `U${called.message.senderId}`,
    user_name: String(message["sender_full_name"]),
    text: String(message["content"]),
    trigger_word: trigger,
    service_id: String(bot.id),
  };
}

const exampleToken = "0".repeat(32);

/**
 * What a webhook would be sent for a message of the caller (spec 4.21; D23): the newest that they received, or one that they
 * might write; from a bot of theirs, or from one that they might have.
 * @param siteUrl how the caller calls this server
 */
export function representativePayload(view: View, caller: UserRecord, siteUrl: string) {
  const own = ownWebhook(view, caller);
  const bot = own === null ? exampleBot(caller, siteUrl) : own.bot;
  const newest = view.row("messages", newestReceived(view, caller));
  const conversation = newest === undefined ? undefined : view.row("conversations", newest.conversationId);
  const isReadable = newest !== undefined && conversation !== undefined && canReadMessage(view, caller, newest);
  const place = isReadable ? { message: newest, conversation } : exampleMessage(view, caller, bot);
  const trigger = place.conversation.userIds === null ? webhookTriggers.mention : webhookTriggers.direct;
  // The caller is shown no more than what they may see themselves.
  const token = own?.service.token ?? exampleToken;
  const message = messageFor(view, { ...place, bot: caller, token, trigger });
  return { bot_email: bot.email, bot_full_name: bot.fullName, data: message["content"], trigger, token, message };
}

/** The caller, if they are such a bot, else the oldest active one that they own. */
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
