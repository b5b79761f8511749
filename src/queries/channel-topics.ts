/** The topics of a channel that a user can read (public API: get-stream-topics). */

import { newestReadable } from "../../domain/topic-visibility.ts";
import { shownTopic } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { passes } from "./passes.ts";

/** Groups of JSON objects with commas between them: `{"name":...,"max_id":...}`, newest first. */
export type EncodedTopics = readonly string[];

/**
 * Works in passes, because a channel may have any number of topics: the cost of each is the same however many there
 * are. A topic is encoded when it is read, because encoding all of them at the end would take longer than a pass.
 * @param most if there are more, the first ones by name
 */
export async function channelTopics(
  view: View,
  reader: UserRecord,
  channel: ChannelRecord,
  allowsEmptyTopic: boolean,
  most: number = limits.topics_per_list_max,
): Promise<EncodedTopics> {
  const name = `${view.realm.label}:${reader.id}`;
  const limit = limits.topics_per_pass_max;
  /** By newest message, which no two topics share. */
  const topics = new Map<number, string>();
  let start: readonly (number | string)[] = [channel.id];
  const turn = passes.enter(name);
  if (turn !== null) await turn;
  for (;;) {
    const rows = view.rows("topicNames", { start, end: [channel.id + 1], limit });
    // The rows of a usual channel fit into the cache; those of a long list would replace all others.
    const isFirst = topics.size === 0;
    for (const { row } of rows) {
      const conversation = isFirst ? view.row("conversations", row.id) : view.scannedRow("conversations", row.id);
      const newest = conversation === undefined ? null : newestReadable(view, reader, channel, conversation);
      if (conversation === undefined || newest === null || topics.size >= most) continue;
      const shown = JSON.stringify(shownTopic(view, conversation.topic, allowsEmptyTopic));
      topics.set(newest, `{"name":${shown},"max_id":${newest}}`);
    }
    passes.leave(rows.length / limit);
    const last = rows.at(-1);
    if (rows.length < limit || last === undefined || topics.size >= most) break;
    start = [...last.key, 0];
    await passes.next(name);
  }
  if (topics.size > limit) await passes.next(name);
  // Sorted without a comparison function, which would be called a million times for 50,000 topics.
  const newestFirst = Float64Array.from([...topics.keys()])
    .sort()
    .reverse();
  const groups: string[] = [];
  for (let first = 0; first < newestFirst.length; first += limit) {
    groups.push(Array.from(newestFirst.subarray(first, first + limit), (id) => topics.get(id)).join(","));
  }
  passes.leave(newestFirst.length / limits.topics_per_list_max);
  return groups;
}
