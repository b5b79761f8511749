/**
 * Reports of messages (public API: report-message): the notification bot posts them in the organization's moderation
 * channel. The reported text and the reason are quoted as plain text, so they contain no mentions and no links.
 */

import { canReadMessage } from "../../domain/permissions.ts";
import { realmSetting } from "../../domain/realm-settings.ts";
import { checkLines, truncate } from "../../domain/text.ts";
import { topicFor } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { ReportType } from "../../schemas/message-reports.ts";
import type { ConversationRecord, MessageRecord } from "../../schemas/messages.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { addressAs, type Command, done, effects, forUser, type Outcome, type Params } from "../protocol/decision.ts";
import { botMessage, silentMention } from "../rules/notification-bot.ts";
import { messageLink } from "../rules/topic-links.ts";

const reasons: Readonly<Record<ReportType, string>> = {
  spam: "Spam",
  harassment: "Harassment",
  inappropriate: "Inappropriate content",
  norms: "Against the community's norms",
  other: "Other reason",
};

export function reportMessage(
  caller: UserRecord,
  { reportType, description }: Params<"message.report">,
  view: View,
  { to }: Command<"message.report">,
): Outcome {
  const channel = view.channels.get(Number(realmSetting(view, "moderation_request_channel_id")));
  if (channel === undefined || channel.isArchived) {
    return refuse.badRequest("Moderation request channel must be specified to enable message reporting.");
  }
  const badText = checkLines("description", description);
  if (badText !== null) return badText;
  if (reportType === "other" && description === "") return refuse.badRequest("An explanation is required.");
  const message = view.row("messages", addressAs(to, "message").id);
  const conversation = message === undefined ? undefined : view.row("conversations", message.conversationId);
  if (message === undefined || conversation === undefined || !canReadMessage(view, caller, message)) {
    return refuse.invalidMessage();
  }
  const sender = view.users.get(message.senderId);
  const by = sender === undefined ? "" : ` sent by ${silentMention(sender)}`;
  const lines = [
    `${silentMention(caller)} reported ${describe(view, message, conversation)}${by}.`,
    `- Reason: **${reasons[reportType]}**`,
    ...(description === "" ? [] : ["- Notes:", ...quoted(description)]),
    "- Message:",
    ...quoted(truncate(message.content, limits.report_quote_code_points_max)),
  ];
  const topic = topicFor(view, `${sender?.fullName ?? ""} - reports`);
  return done({}, [effects.send(botMessage(channel, topic, lines.join("\n").trimEnd()))]);
}

/** The topic of the message, with a link; for direct messages only their kind. */
function describe(view: View, message: MessageRecord, { channelId, topic }: ConversationRecord): string {
  return channelId === null
    ? "a direct message"
    : `a message in ${messageLink(view, { channelId, topic }, message.id)}`;
}

/** A code block with a fence that equals no line of the text, so the text cannot close it. */
function quoted(text: string): string[] {
  const lines = new Set(text.split("\n").map((line) => line.trim()));
  let fence = "```";
  while (lines.has(fence)) fence += "`";
  return ["", `${fence}text`, text, fence, ""];
}

export const messageReportsDecisions = {
  "message.report": forUser(reportMessage),
} as const;
