/** Notices from the notification bot after messages moved or a topic was resolved (texts of the public server). */

import { topicHolders } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelId, UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { MessageMove } from "../../schemas/message-changes.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import { topicPolicies } from "../../schemas/user-topics.ts";
import { type Effect, effects } from "../protocol/decision.ts";
import { removeMessages } from "../rules/message-rows.ts";
import { type BotPostOptions, botPost } from "../rules/notification-bot.ts";
import { narrowPath, topicLink } from "../rules/topic-links.ts";
import type { TopicContext } from "./context.ts";

/** Notices at the end of a move into another conversation. */
export function arrivalNotices(view: View, move: MessageMove): Effect[] {
  return [...(isToggled(move) ? [resolveNotice(view, move)] : []), ...moveNotices(view, move)];
}

/** Notices at the end of a move of `count` messages. Resolving a topic has its own notice. */
export function moveNotices(view: View, move: MessageMove): Effect[] {
  const user = mention(view, move.movedById);
  const notices: Effect[] = [];
  if (move.notifiesNewThread) {
    const from = otherPlace(view, move.from, move.to);
    notices.push(post(move.to, `${arrived(view, move)} moved here from ${from} by ${user}.`));
  }
  if (move.notifiesOldThread) {
    const to = otherPlace(view, move.to, move.from);
    notices.push(post(move.from, `${departed(move)} to ${to} by ${user}.`));
  }
  return notices;
}

function arrived(view: View, move: MessageMove): string {
  if (move.isWhole && move.target !== "visible") return "This topic was";
  if (move.count !== 1) return `${move.count} messages were`;
  return `[A message](${narrowPath(view, move.to)}/near/${move.messageId}) was`;
}

function departed(move: MessageMove): string {
  if (move.isWhole) return "This topic was moved";
  return `${move.count === 1 ? "A message was" : `${move.count} messages were`} moved from this topic`;
}

/**
 * Posts a notice that a topic was resolved or unresolved. If the change is reverted at once, the previous notice is
 * deleted instead.
 */
export function toggleNotice(context: TopicContext, view: View, move: MessageMove): Effect[] {
  if (!isToggled(move)) return [];
  const last = view.row("messages", context.lastMessageId);
  const isFresh =
    last !== undefined &&
    hasTrait(last.traits, "isResolveNotice") &&
    view.now - last.sentAt <= limits.resolve_undo_s * 1000;
  if (isFresh) {
    const place = { id: last.conversationId, channelId: context.channelId, topic: move.to.topic, userIds: null };
    return removeMessages(view, place, [last], [move.movedById]);
  }
  return [resolveNotice(view, move)];
}

function isToggled({ toggle = "none" }: MessageMove): boolean {
  return toggle !== "none";
}

function resolveNotice(view: View, move: MessageMove): Effect {
  const readers = noticeReaders(view, move.to.channelId, [move.from.topic, move.to.topic]);
  const notice = { isResolveNotice: true, ...(readers === null ? {} : { unreadByIds: readers }) } as const;
  return post(move.to, `${mention(view, move.movedById)} has marked this topic as ${move.toggle}.`, notice);
}

type TopicAddress = MessageMove["from"];

/**
 * The name of the other end of the move. Everybody in `here` reads it, so it must not name a private channel that they
 * may not see (S1).
 */
function otherPlace(view: View, there: TopicAddress, here: TopicAddress): string {
  const isHidden = there.channelId !== here.channelId && view.channels.get(there.channelId)?.isPrivate !== false;
  return isHidden ? "another channel" : topicLink(view, there);
}

function post(place: TopicAddress, content: string, more: BotPostOptions = {}): Effect {
  return effects.send(botPost({ actor: "topic", ...place }, content, more));
}

function mention(view: View, userId: UserId): string {
  return `@_**${view.users.get(userId)?.fullName ?? ""}|${userId}**`;
}

/**
 * Ids of the channel's subscribers who want to read the notice, ascending; null: too many to list (S3), so the notice
 * is unread for everybody.
 * @param topics the former and the new name; users may follow either
 */
export function noticeReaders(view: View, channelId: ChannelId, topics: readonly string[]): readonly number[] | null {
  const limit = limits.resolve_notice_readers_max + 1;
  const wanting = new Set<number>();
  const followers = new Set<number>();
  for (const topic of topics) {
    const holders = topicHolders(view, channelId, topic, { afterUserId: 0, limit });
    // The page is full, so there may be more followers.
    if (holders.length === limit) return null;
    for (const { userId, policy } of holders) if (policy === topicPolicies.followed) followers.add(userId);
  }
  for (const userId of view.subscriptions.ofChannel(channelId)) {
    const user = view.users.get(userId);
    if (user === undefined || user.botType !== null) continue;
    const policy = userSetting(user, "resolved_topic_notice_auto_read_policy");
    if (policy === "never" || (policy === "except_followed" && followers.has(userId))) wanting.add(userId);
    if (wanting.size === limit) return null;
  }
  return [...wanting].sort((a, b) => a - b);
}
