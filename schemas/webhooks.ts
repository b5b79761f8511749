/**
 * Outgoing webhooks (spec 4.21, 6; D23): what is sent to the receiver of a bot, what may go wrong, and what is said of it then
 * (behaviour 10).
 */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";

/** Spec 6, `trigger`. */
export const webhookTriggers = { direct: "direct_message", mention: "mention" } as const;

/** Name of the program that sends a receiver's answers (D35), as on the public server. */
export const webhookClient = "OutgoingWebhookResponse";

export interface WebhookFailureRow {
  /** Whether it may be better later: tried again, until `webhook_attempts_max`. */
  readonly isRetried: boolean;
  /** What the bot says in the conversation, behind "Failure! "; `{status}` is the HTTP status. */
  readonly said: string;
  /** What its owner is told. */
  readonly told: string;
}

const unavailable = "Bot is unavailable";
const responded = "Third party responded with {status}";
const status = "The webhook got a response with status code *{status}*.";

/** Another way to fail is another row. */
export const webhookFailures = {
  "timed-out": { isRetried: true, said: unavailable, told: "Request timed out after {seconds} seconds." },
  unreachable: {
    isRetried: true,
    said: unavailable,
    told: "A connection error occurred. Is my bot server down?",
  },
  /** A status that speaks of the moment, not of the request (`isMomentary`). */
  busy: { isRetried: true, said: responded, told: status },
  refused: { isRetried: false, said: responded, told: status },
  redirected: { isRetried: false, said: responded, told: `${status} Redirects are not followed.` },
  private: {
    isRetried: false,
    said: "The URL configured for the webhook is for a private or disallowed network.",
    told: "The URL configured for the webhook is for a private or disallowed network.",
  },
  "too-large": {
    isRetried: false,
    said: "Response too large",
    told: "The response was larger than {kibibytes} KiB.",
  },
  "invalid-json": { isRetried: false, said: "Invalid JSON in response", told: "Invalid JSON in response" },
  "invalid-format": { isRetried: false, said: "Invalid response format", told: "Invalid response format" },
  "invalid-content": {
    isRetried: false,
    said: "Invalid response format",
    told: "The response holds a text that no message can have.",
  },
  "slack-direct": {
    isRetried: false,
    said: "Slack outgoing webhooks don't support direct messages.",
    told: "Slack outgoing webhooks don't support direct messages.",
  },
} as const satisfies Record<string, WebhookFailureRow>;

export type WebhookFailure = keyof typeof webhookFailures;

/** Beside 5xx: time-out, too early, too many requests. */
const momentaryStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

/** How a status that is no success fails. */
export function failureOfStatus(code: number): WebhookFailure {
  if (code >= 500 || momentaryStatuses.has(code)) return "busy";
  return code >= 300 && code < 400 ? "redirected" : "refused";
}

/** A request to a receiver, ready to be sent. */
export interface WebhookRequest {
  readonly url: string;
  readonly contentType: string;
  readonly body: string;
  /** Which field of the answer is the bot's reply: one of `webhookInterfaces`. */
  readonly interfaceType: number;
}

export const serviceOutgoingWebhook = defineEndpoint({
  operationId: "service-outgoing-webhook",
  method: "POST",
  path: "/service-outgoing-webhook",
  authentication: "user",
  effectiveness: "read",
  summary: "What an outgoing webhook would be sent for a message of the caller (spec 4.21, 6; D23). Nothing is sent.",
  params: {},
  ok: {
    bot_email: Type.String(),
    bot_full_name: Type.String(),
    data: Type.String(),
    trigger: Type.String(),
    token: Type.String(),
    message: Type.Object({ rendered_content: Type.String() }, { additionalProperties: Type.Unknown() }),
  },
  errors: [],
});
