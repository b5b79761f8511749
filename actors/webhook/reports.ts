/** The owner of an outgoing webhook bot is told that it fails (issue, Outgoing webhooks): now and then, not every time. */
import { limits } from "../../schemas/limits.ts";
import type { View } from "../../src/domain/view.ts";
import { type Effect, effects } from "../effects.ts";
import { botDirectMessage, silently } from "../realm/notification-bot.ts";

/** @param reason Markdown */
export function tellOwner(view: View, botId: number, messageId: number, reason: string): Effect[] {
  const bot = view.users.get(botId);
  const owner = view.users.get(bot?.botOwnerId ?? 0);
  if (bot === undefined || owner?.isActive !== true) return [];
  const { reportedAt, untold } = view.row("webhookReports", botId) ?? { reportedAt: 0, untold: 0 };
  if (view.now - reportedAt < limits.webhook_report_pause_ms) {
    return [effects.put("webhookReports", botId, { reportedAt, untold: untold + 1 })];
  }
  const message = `[A message](#narrow/near/${messageId}) to your bot ${silently(bot)} triggered an outgoing webhook.`;
  const more = untold === 0 ? [] : [`Failures since I told you of one: ${untold}.`];
  const text = [message, reason, ...more].join("\n\n");
  return [
    effects.put("webhookReports", botId, { reportedAt: view.now, untold: 0 }),
    effects.tell(botDirectMessage(owner.id, text)),
  ];
}
