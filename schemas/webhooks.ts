/**
 * Outgoing webhooks (spec 4.21, 6; D23): the request to a bot's receiver, the possible failures, and the messages about
 * them (behaviour 10).
 */

import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import type { MessageId, UserId } from "./ids.ts";
import { MessageBody, type MessagePost } from "./messages.ts";
import { OtherText, RenderedText, typedBy } from "./person-marks.ts";

const limits = {
  webhook_attempts_max: 6,
  webhook_back_off_ms_min: 10_000,
  webhook_back_off_ms_max: 5 * 60 * 1000,
  /** From the DNS lookup of the receiver to the last byte of its response. */
  webhook_delivery_ms_max: 10_000,
  webhook_answer_bytes_max: 256 * 1024,
  webhook_deliveries_concurrent_max: 64,
  webhook_deliveries_per_bot_concurrent_max: 2,
  /** Messages waiting for one bot's receiver; further ones are not delivered. */
  webhook_deliveries_per_bot_max: 500,
  webhooks_per_bot_in_memory_max: 50,
  /** DNS lookups occupy threads that password hashing and file access also need. */
  webhook_name_lookups_concurrent_max: 2,
  /** Minimum interval between failure reports to a bot's owner. */
  webhook_report_pause_ms: 60 * 60 * 1000,
  webhook_drain_ms_max: 1000,
} as const;

/** Spec 6, `trigger`. */
export const webhookTriggers = { direct: "direct_message", mention: "mention" } as const;

/** Client name of messages that contain a receiver's response (D35), as on the public server. */
export const webhookClient = "OutgoingWebhookResponse";

export interface WebhookFailureRow {
  /** Whether the failure may be temporary. If so, the delivery is retried up to `webhook_attempts_max` times. */
  readonly isRetried: boolean;
  /** The text that the bot posts in the conversation after "Failure! "; `{status}` is the HTTP status. */
  readonly conversationText: string;
  /** The message that the bot's owner receives. */
  readonly ownerText: string;
}

const unavailable = "Bot is unavailable";
const responded = "Third party responded with {status}";
const status = "The webhook got a response with status code *{status}*.";

/** A new kind of failure needs a row here. */
export const webhookFailures = {
  "timed-out": {
    isRetried: true,
    conversationText: unavailable,
    ownerText: "Request timed out after {seconds} seconds.",
  },
  unreachable: {
    isRetried: true,
    conversationText: unavailable,
    ownerText: "A connection error occurred. Is my bot server down?",
  },
  /** A status that may be temporary (`failureOfStatus`). */
  busy: { isRetried: true, conversationText: responded, ownerText: status },
  refused: { isRetried: false, conversationText: responded, ownerText: status },
  redirected: { isRetried: false, conversationText: responded, ownerText: `${status} Redirects are not followed.` },
  private: {
    isRetried: false,
    conversationText: "The URL configured for the webhook is for a private or disallowed network.",
    ownerText: "The URL configured for the webhook is for a private or disallowed network.",
  },
  "too-large": {
    isRetried: false,
    conversationText: "Response too large",
    ownerText: "The response was larger than {kibibytes} KiB.",
  },
  "invalid-json": {
    isRetried: false,
    conversationText: "Invalid JSON in response",
    ownerText: "Invalid JSON in response",
  },
  "invalid-format": {
    isRetried: false,
    conversationText: "Invalid response format",
    ownerText: "Invalid response format",
  },
  "invalid-content": {
    isRetried: false,
    conversationText: "Invalid response format",
    ownerText: "The response holds a text or a widget that no message can have.",
  },
  "slack-direct": {
    isRetried: false,
    conversationText: "Slack outgoing webhooks don't support direct messages.",
    ownerText: "Slack outgoing webhooks don't support direct messages.",
  },
} as const satisfies Record<string, WebhookFailureRow>;

export type WebhookFailure = keyof typeof webhookFailures;

/** Temporary failures besides 5xx: request timeout, too early, too many requests. */
const momentaryStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

/** The kind of failure for a status that is not a success. */
export function failureOfStatus(code: number): WebhookFailure {
  if (code >= 500 || momentaryStatuses.has(code)) return "busy";
  return code >= 300 && code < 400 ? "redirected" : "refused";
}

/** A request to a receiver, ready to send. */
export interface WebhookRequest {
  readonly url: string;
  readonly contentType: string;
  readonly body: string;
  /** Determines which field of the response is the bot's reply: one of `webhookInterfaces`. */
  readonly interfaceType: number;
}

/** The message object in a request to a receiver. */
export const WebhookMessage = Type.Object({ ...MessageBody.properties, rendered_content: RenderedText });

export const serviceOutgoingWebhook = defineEndpoint({
  operationId: "service-outgoing-webhook",
  method: "POST",
  path: "/service-outgoing-webhook",
  authentication: "user",
  effectiveness: "read",
  summary:
    "Returns what an outgoing webhook would receive for a message of the caller, without sending it (spec 4.21, 6; D23).",
  params: {},
  ok: {
    // A bot of the caller, or an invented one.
    bot_email: OtherText,
    bot_full_name: OtherText,
    data: typedBy("message/sender_id"),
    trigger: Type.Enum(Object.values(webhookTriggers)),
    token: OtherText,
    message: WebhookMessage,
  },
  errors: [],
});

/** A message to be delivered to an outgoing webhook bot; the request is built when it is sent. */
export interface WebhookDeliveryRecord {
  readonly id: number;
  readonly botId: UserId;
  readonly messageId: MessageId;
  /** The trigger of the bot: one of `webhookTriggers`. */
  readonly trigger: string;
  readonly createdAt: number;
  /** Number of failed attempts. */
  readonly attempts: number;
  /** Earliest time of the next attempt. */
  readonly dueAt: number;
}

/** Failure reports to a bot's owner. */
export interface WebhookReportRecord {
  /** Time of the last report. */
  readonly reportedAt: number;
  /** Failures since that report. */
  readonly unreportedFailures: number;
}

/** The reply that the receiver of an outgoing webhook wants the bot to post. */
export type WebhookReply = Pick<MessagePost, "content" | "parsed" | "widget">;

/** Parameters of its commands, by type. */
export interface WebhooksCommands {
  /** `status`: HTTP status of the response; 0 if there was no response. */
  "webhook.failed": { readonly failure: WebhookFailure; readonly status: number };
  "webhook.due": Record<string, never>;
  /** `wasAnswered`: the receiver had already responded. */
  "webhook.abandon": { readonly wasAnswered: boolean };
  /** null: the bot posts nothing. */
  "webhook.answered": { readonly reply: WebhookReply | null };
}

export const webhooksArea = defineArea({
  endpoints: [serviceOutgoingWebhook],
  commands: defineCommands<WebhooksCommands>(),
  tables: {
    webhookDeliveries: defineTable<readonly [botId: UserId, id: number], WebhookDeliveryRecord>({
      fields: ["id", "botId", "messageId", "trigger", "createdAt", "attempts", "dueAt"],
      dates: ["createdAt", "dueAt"],
    }),
    /** By bot. */
    webhookReports: defineTable<number, WebhookReportRecord>({
      fields: ["reportedAt", "unreportedFailures"],
      dates: ["reportedAt"],
    }),
  },
  counters: ["webhook"],
  limits,
});
