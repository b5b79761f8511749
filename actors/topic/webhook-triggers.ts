/**
 * Selects the messages that trigger an outgoing webhook bot (spec 6; behaviour 10): direct messages to it, and personal
 * mentions where it can read them. Messages from bots trigger none, otherwise two bots could reply to each other
 * forever.
 */

import { canReadChannelMessage } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import { botTypes } from "../../schemas/bots.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { webhookTriggers } from "../../schemas/webhooks.ts";
import { type Effect, effects } from "../protocol/effects.ts";
import { reportFailureToOwner } from "../rules/webhook-reports.ts";
import type { Posted } from "./content.ts";

export function callWebhooks(posted: Posted, view: View): readonly Effect[] {
  const { message, channel } = posted;
  const bots = mentionedBots(posted, view);
  if (bots.length === 0) return [];
  const trigger = channel === null ? webhookTriggers.direct : webhookTriggers.mention;
  let id = view.counter("webhook");
  const rows: Effect[] = [];
  for (const { id: botId } of bots) {
    if (isFull(view, botId)) {
      rows.push(
        ...reportFailureToOwner(
          view,
          botId,
          message.id,
          "Too many messages wait for its server: this one is not sent.",
        ),
      );
      continue;
    }
    id++;
    const row = { id, botId, messageId: message.id, trigger, createdAt: view.now, attempts: 0, dueAt: view.now };
    rows.push(effects.put("webhookDeliveries", [botId, id], row));
  }
  return [effects.setCounter("webhook", id), ...rows];
}

function mentionedBots({ message, sender, channel, userIds, rendered }: Posted, view: View): UserRecord[] {
  if (sender.botType !== null) return [];
  const called = (userIds ?? rendered.mentionedUserIds).flatMap((id) => view.users.get(id) ?? []);
  return called.filter(
    (user) =>
      user.botType === botTypes.outgoingWebhook &&
      user.isActive &&
      (channel === null || canReadChannelMessage(view, user, channel, message.id)),
  );
}

function isFull(view: View, botId: UserId): boolean {
  const limit = limits.webhook_deliveries_per_bot_max;
  return view.keys("webhookDeliveries", { start: [botId], end: [botId + 1], limit }).length >= limit;
}
