/** Notifies the owner of an outgoing webhook bot that deliveries fail, at most once per `webhook_report_pause_ms`. */

import type { View } from "../../domain/view.ts";
import type { MessageId, UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import { type Effect, effects } from "../protocol/decision.ts";
import { botDirectMessage, silentMention } from "./notification-bot.ts";

/** @param reason Markdown */
export function reportFailureToOwner(view: View, botId: UserId, messageId: MessageId, reason: string): Effect[] {
  const bot = view.users.get(botId);
  const owner = view.users.get(bot?.botOwnerId ?? 0);
  if (bot === undefined || owner?.isActive !== true) return [];
  const { reportedAt, unreportedFailures } = view.row("webhookReports", botId) ?? {
    reportedAt: 0,
    unreportedFailures: 0,
  };
  if (view.now - reportedAt < limits.webhook_report_pause_ms) {
    return [effects.put("webhookReports", botId, { reportedAt, unreportedFailures: unreportedFailures + 1 })];
  }
  const message = `[A message](#narrow/near/${messageId}) to your bot ${silentMention(bot)} triggered an outgoing webhook.`;
  const more = unreportedFailures === 0 ? [] : [`Failures since I told you of one: ${unreportedFailures}.`];
  const text = [message, reason, ...more].join("\n\n");
  return [
    effects.put("webhookReports", botId, { reportedAt: view.now, unreportedFailures: 0 }),
    effects.send(botDirectMessage(owner.id, text)),
  ];
}
