/**
 * Reporting a message (public API: report-message): the notification bot tells the organization's moderators in the channel that is
 * set for it. What was reported and why is quoted as plain text: nobody is mentioned by it, and nothing is linked.
 */
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { ReportType } from "../../schemas/message-reports.ts";
import type { ConversationRecord, MessageRecord } from "../../schemas/records.ts";
import { canReadMessage } from "../../src/domain/permissions.ts";
import { realmSetting } from "../../src/domain/realm-settings.ts";
import { truncate } from "../../src/domain/text.ts";
import { meantTopic } from "../../src/domain/topics.ts";
import type { View } from "../../src/domain/view.ts";
import type { Address, Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";
import { botMessage, silently } from "../realm/notification-bot.ts";
import type { TopicContext } from "./machine.ts";
import { messageLink } from "./place-links.ts";

const reasons: Readonly<Record<ReportType, string>> = {
  spam: "Spam",
  harassment: "Harassment",
  inappropriate: "Inappropriate content",
  norms: "Against the community's norms",
  other: "Other reason",
};

export function reportMessage(
  _context: TopicContext,
  asked: Command<"message.report">,
  view: View,
): Outcome<TopicContext> {
  const caller = callerOf(asked, view);
  if (caller === null) return refuse.noSuchUser();
  const { reportType, description } = asked.params;
  const channel = view.channels.get(Number(realmSetting(view, "moderation_request_channel_id")));
  if (channel === undefined || channel.isArchived) {
    return refuse.badRequest("Moderation request channel must be specified to enable message reporting.");
  }
  if (reportType === "other" && description === "") return refuse.badRequest("An explanation is required.");
  const message = view.row("messages", (asked.to as Extract<Address, { actor: "message" }>).id);
  const conversation = message === undefined ? undefined : view.row("conversations", message.conversationId);
  if (message === undefined || conversation === undefined || !canReadMessage(view, caller, message)) {
    return refuse.invalidMessage();
  }
  const sender = view.users.get(message.senderId);
  const by = sender === undefined ? "" : ` sent by ${silently(sender)}`;
  const lines = [
    `${silently(caller)} reported ${describe(view, message, conversation)}${by}.`,
    `- Reason: **${reasons[reportType]}**`,
    ...(description === "" ? [] : ["- Notes:", ...quoted(description)]),
    "- Message:",
    ...quoted(truncate(message.content, limits.report_quote_code_points_max)),
  ];
  const topic = meantTopic(view, `${sender?.fullName ?? ""} - reports`);
  return done({}, [effects.tell(botMessage(channel, topic, lines.join("\n").trimEnd()))]);
}

/** Where it was said; of direct messages, only that they were. */
function describe(view: View, message: MessageRecord, { channelId, topic }: ConversationRecord): string {
  return channelId === null
    ? "a direct message"
    : `a message in ${messageLink(view, { channelId, topic }, message.id)}`;
}

/** A block of code whose fence no line of the text closes. */
function quoted(text: string): string[] {
  const lines = new Set(text.split("\n").map((line) => line.trim()));
  let fence = "```";
  while (lines.has(fence)) fence += "`";
  return ["", `${fence}text`, text, fence, ""];
}
