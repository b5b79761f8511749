/**
 * For whom a notice that a topic was resolved or unresolved is unread (spec 2.3, resolved_topic_notice_auto_read_policy). Mostly for
 * nobody, so the notice names those few: one row, however many people receive it. Decided when the topic is resolved, as the public
 * server does: a setting that changes later changes no notice of before.
 */
import { limits } from "../../schemas/limits.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import { topicHolders, topicPolicies } from "../../src/domain/user-topics.ts";
import type { View } from "../../src/domain/view.ts";

/**
 * Ids of the channel's people who want to read the notice, ascending; null: of more than can be named (S3), and it is unread for
 * everybody. @param topics what the topic was and is called: people follow it by either name
 */
export function noticeReaders(view: View, channelId: number, topics: readonly string[]): readonly number[] | null {
  const limit = limits.resolve_notice_readers_max + 1;
  const wanting = new Set<number>();
  const followers = new Set<number>();
  for (const topic of topics) {
    const holders = topicHolders(view, channelId, topic, { afterUserId: 0, limit });
    // Behind those who were found there may be others.
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
