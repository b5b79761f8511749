/** Delivery of one message to an outgoing webhook (spec 6; actors/protocol/delivery.ts). */

import { parseContent } from "../../domain/markdown/render.ts";
import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import type { MessagePost } from "../../schemas/messages.ts";
import {
  type WebhookDeliveryRecord,
  type WebhookReply,
  webhookClient,
  webhookFailures,
} from "../../schemas/webhooks.ts";
import { type Command, command, done, type Effect, effects, type Outcome } from "../protocol/decision.ts";
import { deliveryMachine, type PendingDelivery, type RetryPolicy, withNextAttempt } from "../protocol/delivery.ts";
import { reportFailureToOwner } from "../rules/webhook-reports.ts";

type Pending = PendingDelivery<WebhookDeliveryRecord>;

const retryPolicy: RetryPolicy = {
  attemptsMax: limits.webhook_attempts_max,
  backOffMin: limits.webhook_back_off_ms_min,
  backOffMax: limits.webhook_back_off_ms_max,
};

function forget({ botId, id }: WebhookDeliveryRecord): Effect {
  return effects.remove("webhookDeliveries", [botId, id]);
}

/** Deletes the row in the turn that accepts the response, so the response is posted only once. */
function webhookAnswered({ row }: Pending, request: Command<"webhook.answered">, view: View): Outcome<Pending> {
  const { reply } = request.params;
  const posts = reply === null ? [] : postAsBot(view, row, reply, { answersMessageId: row.messageId });
  return done({}, [forget(row), ...posts], undefined, "sent");
}

function webhookFailed({ row }: Pending, request: Command<"webhook.failed">, view: View): Outcome<Pending> {
  const { failure, status } = request.params;
  const { isRetried, conversationText, ownerText } = webhookFailures[failure];
  const later = isRetried ? withNextAttempt(row, view.now, retryPolicy) : null;
  if (later !== null) return done({}, waitFor(later), { row: later });
  const content = `Failure! ${filled(conversationText, status)}`;
  const parsed = parseContent(content, { linkifiers: [], translateEmoticons: false });
  const all = [
    forget(row),
    deadLetterOf(request, row),
    ...postAsBot(view, row, { content, parsed }, {}),
    ...reportFailureToOwner(view, row.botId, row.messageId, filled(ownerText, status)),
  ];
  return done({}, all, undefined, "dead");
}

/** Contains the failure but not the receiver's URL, which is stored only with the bot. */
function deadLetterOf(request: Command<"webhook.failed">, row: WebhookDeliveryRecord): Effect {
  const { failure, status } = request.params;
  const { id, botId, messageId, trigger, createdAt } = row;
  const error = `the receiver: ${failure}${status === 0 ? "" : `, status ${status}`}`;
  const delivery = { kind: "webhook", id, botId, messageId, trigger, createdAt } as const;
  return effects.deadLetter(request, error, { attempts: row.attempts + 1, delivery });
}

function waitFor(later: WebhookDeliveryRecord): Effect[] {
  const { botId, id, dueAt } = later;
  return [
    effects.put("webhookDeliveries", [botId, id], later),
    effects.schedule(dueAt, command({ actor: "webhook", botId, id }, "webhook.due", {}, null)),
  ];
}

function filled(text: string, status: number): string {
  return text
    .replaceAll("{status}", String(status))
    .replaceAll("{seconds}", String(limits.webhook_delivery_ms_max / 1000))
    .replaceAll("{kibibytes}", String(limits.webhook_answer_bytes_max / 1024));
}

/** Posts to the conversation that the message is in now; a deleted message gets no response. */
function postAsBot(
  view: View,
  { botId, messageId }: WebhookDeliveryRecord,
  reply: WebhookReply,
  more: Pick<MessagePost, "answersMessageId">,
): Effect[] {
  if (view.row("messages", messageId) === undefined) return [];
  const post = { ...reply, client: webhookClient, queueId: null, localId: null, isReadBySender: true, ...more };
  return [effects.send(command({ actor: "message", id: messageId }, "message.post", post, botId))];
}

/**
 * A report about this delivery is itself a dead letter (M6). If the receiver had already responded, the delivery ends
 * and nothing is posted; otherwise it is retried as after a failure.
 */
function abandonWebhook({ row }: Pending, request: Command<"webhook.abandon">, view: View): Outcome<Pending> {
  const later = request.params.wasAnswered ? null : withNextAttempt(row, view.now, retryPolicy);
  if (later !== null) return done({}, waitFor(later), { row: later });
  return done({}, [forget(row)], undefined, request.params.wasAnswered ? "sent" : "dead");
}

/** Time for another attempt: rewriting the row offers it to the outbox relay. */
function webhookDue({ row }: Pending, _asked: Command<"webhook.due">, view: View): Outcome<Pending> {
  if (row.dueAt > view.now) return done({}, []);
  return done({}, [effects.put("webhookDeliveries", [row.botId, row.id], row)]);
}

export const webhookMachine = deliveryMachine<WebhookDeliveryRecord>(
  "webhook",
  {
    "webhook.answered": webhookAnswered,
    "webhook.failed": webhookFailed,
    "webhook.due": webhookDue,
    "webhook.abandon": abandonWebhook,
  },
  {
    "webhook.answered": { sent: "always" },
    "webhook.failed": { dead: "permanently, or too often" },
    "webhook.abandon": { sent: "it was answered", dead: "too often" },
  },
);
