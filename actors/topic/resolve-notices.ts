/**
 * Decides for which users a notice that a topic was resolved or unresolved is unread (spec 2.3,
 * resolved_topic_notice_auto_read_policy). These are usually few, so their ids are stored in one row. They are
 * determined when the topic is resolved, as on the public server.
 */

import { topicHolders } from "../../domain/user-topics.ts";
import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import { topicPolicies } from "../../schemas/user-topics.ts";

/**
 * Ids of the channel's subscribers who want to read the notice, ascending; null: too many to list (S3), so the notice
 * is unread for everybody.
 * @param topics the former and the new name; users may follow either
 */
export function noticeReaders(view: View, channelId: number, topics: readonly string[]): readonly number[] | null {
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
