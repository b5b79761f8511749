/** The topics of a channel that a user can read (public API: get-stream-topics). */

import { newestReadable } from "../../domain/topic-visibility.ts";
import { shownTopic } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";

export interface TopicBody {
  readonly name: string;
  /** The newest message in it that the user can read. */
  readonly max_id: number;
}

/**
 * Newest first. Works in slices, because a channel may have any number of topics.
 * @param most if there are more, the first ones by name
 */
export async function channelTopics(
  view: View,
  reader: UserRecord,
  channel: ChannelRecord,
  allowsEmptyTopic: boolean,
  most: number = limits.topics_per_list_max,
): Promise<TopicBody[]> {
  const topics: TopicBody[] = [];
  const limit = limits.narrow_rows_per_pass_max;
  let start: readonly (number | string)[] = [channel.id];
  for (;;) {
    const rows = view.rows("topicNames", { start, end: [channel.id + 1], limit });
    for (const { row } of rows) {
      const conversation = view.row("conversations", row.id);
      const newest = conversation === undefined ? null : newestReadable(view, reader, channel, conversation);
      if (conversation === undefined || newest === null) continue;
      topics.push({ name: shownTopic(view, conversation.topic, allowsEmptyTopic), max_id: newest });
    }
    const last = rows.at(-1);
    if (rows.length < limit || last === undefined || topics.length >= most) break;
    start = [...last.key, 0];
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return topics.slice(0, most).sort((a, b) => b.max_id - a.max_id);
}
