/**
 * How a receiver took a message (spec 6; behaviour 10): its answer is a message of the bot like any other; a failure is tried again
 * or said in the conversation, and the bot's owner is told.
 */
import { limits } from "../../schemas/limits.ts";
import type { WebhookDeliveryRecord } from "../../schemas/records.ts";
import { webhookClient, webhookFailures } from "../../schemas/webhooks.ts";
import { parseContent } from "../../src/domain/markdown/render.ts";
import type { View } from "../../src/domain/view.ts";
import { type Address, type Command, command, type MessagePost, type WebhookReply } from "../commands.ts";
import { done, type Outcome } from "../decide.ts";
import { type DeliveryContext, type Patience, postponed } from "../delivery.ts";
import { type Effect, effects } from "../effects.ts";
import { tellOwner } from "./reports.ts";

type WebhookAddress = Extract<Address, { actor: "webhook" }>;

const patience: Patience = {
  attemptsMax: limits.webhook_attempts_max,
  backOffMin: limits.webhook_back_off_ms_min,
  backOffMax: limits.webhook_back_off_ms_max,
};

function rowOf(asked: Command, view: View): WebhookDeliveryRecord | undefined {
  const { botId, id } = asked.to as WebhookAddress;
  return view.row("webhookDeliveries", [botId, id]);
}

function forget({ botId, id }: WebhookDeliveryRecord): Effect {
  return effects.remove("webhookDeliveries", [botId, id]);
}

/** The row goes in the turn that takes the answer in: what is answered twice is said once. */
export function webhookAnswered(
  _context: DeliveryContext,
  asked: Command<"webhook.answered">,
  view: View,
): Outcome<DeliveryContext> {
  const row = rowOf(asked, view);
  if (row === undefined) return done({}, []);
  const { reply } = asked.params;
  const said = reply === null ? [] : say(view, row, reply, { answersMessageId: row.messageId });
  return done({}, [forget(row), ...said], { fate: "sent" });
}

export function webhookFailed(
  _context: DeliveryContext,
  asked: Command<"webhook.failed">,
  view: View,
): Outcome<DeliveryContext> {
  const row = rowOf(asked, view);
  if (row === undefined) return done({}, []);
  const { failure, status } = asked.params;
  const { isRetried, said, told } = webhookFailures[failure];
  const later = isRetried ? postponed(row, view.now, patience) : null;
  if (later !== null) return done({}, waitFor(later));
  const content = `Failure! ${filled(said, status)}`;
  const parsed = parseContent(content, { linkifiers: [], translateEmoticons: false });
  const all = [
    forget(row),
    buried(asked, row),
    ...say(view, row, { content, parsed }, {}),
    ...tellOwner(view, row.botId, row.messageId, filled(told, status)),
  ];
  return done({}, all, { fate: "dead" });
}

/** Why: the receiver's address stays where it is, with the bot. */
function buried(asked: Command<"webhook.failed">, row: WebhookDeliveryRecord): Effect {
  const { failure, status } = asked.params;
  const { id, botId, messageId, trigger, createdAt } = row;
  const error = `the receiver: ${failure}${status === 0 ? "" : `, status ${status}`}`;
  const delivery = { kind: "webhook", id, botId, messageId, trigger, createdAt } as const;
  return effects.bury(asked, error, { attempts: row.attempts + 1, delivery });
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

/** Where the message is now; one that is gone is not answered. */
function say(
  view: View,
  { botId, messageId }: WebhookDeliveryRecord,
  reply: WebhookReply,
  more: Pick<MessagePost, "answersMessageId">,
): Effect[] {
  if (view.row("messages", messageId) === undefined) return [];
  const post = { ...reply, client: webhookClient, queueId: null, localId: null, isReadBySender: true, ...more };
  return [effects.tell(command({ actor: "message", id: messageId }, "message.post", post, botId))];
}

/**
 * A word about it died (M6) and is a dead letter itself. What the receiver has is done with, and nothing is said; anything else is
 * tried again as after a failure.
 */
export function abandonWebhook(
  _context: DeliveryContext,
  asked: Command<"webhook.abandon">,
  view: View,
): Outcome<DeliveryContext> {
  const row = rowOf(asked, view);
  if (row === undefined) return done({}, []);
  const later = asked.params.isTaken ? null : postponed(row, view.now, patience);
  if (later !== null) return done({}, waitFor(later));
  return done({}, [forget(row)], { fate: asked.params.isTaken ? "sent" : "dead" });
}

/** Time to try again: the courier sees rows that are written. */
export function webhookDue(
  _context: DeliveryContext,
  asked: Command<"webhook.due">,
  view: View,
): Outcome<DeliveryContext> {
  const row = rowOf(asked, view);
  if (row === undefined || row.dueAt > view.now) return done({}, []);
  return done({}, [effects.put("webhookDeliveries", [row.botId, row.id], row)]);
}
